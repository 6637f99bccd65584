"""A few processes that work through a list; one that hangs, crashes or eats memory costs its item.

Threads and pools can't be told to stop an item; a process can.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@dataclass(frozen=True)
class Failed:
    """An item without a result, and why."""

    reason: str


def _serve(work: Callable[[Any], Any], pipe: Connection, memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    while True:
        item = pipe.recv()
        try:
            result = work(item)
        except KeyboardInterrupt:
            return
        except BaseException as error:
            result = Failed(traceback.format_exception_only(error)[-1].strip())
        pipe.send(result)


class _Worker:
    def __init__(self, work: Callable[[Any], Any], memory: int) -> None:
        self.pipe, other = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=_serve, args=(work, other, memory), daemon=True)
        self.process.start()
        other.close()
        self.item = -1
        self.started = 0.0

    def give(self, number: int, item: Any) -> None:
        self.item, self.started = number, time.monotonic()
        self.pipe.send(item)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def each(
    work: Callable[[Any], Any],
    items: Sequence[Any],
    *,
    processes: int = 2,
    seconds: float = 60,
    memory: int = 6 << 30,
) -> Iterator[tuple[int, Any]]:
    """The results as they come, with the items' numbers; `Failed` for what did not end well.

    Args:
        work: A function of a module; it may keep what it has loaded in its module.
        items: What it is called with, one at a time.
        processes: How many at a time.
        seconds: How long an item may take; the first of a process some more, to load things.
        memory: Bytes of address space for each.
    """
    waiting = list(enumerate(items))[::-1]
    workers = [_Worker(work, memory) for _ in range(min(processes, len(items)))]
    fresh = set(map(id, workers))
    try:
        for worker in workers:
            worker.give(*waiting.pop())
        while workers:
            wait([worker.pipe for worker in workers], timeout=0.5)
            for index, worker in enumerate(workers):
                limit = seconds + (30 if id(worker) in fresh else 0)
                result: Any
                if worker.pipe.poll():
                    try:
                        result = worker.pipe.recv()
                        fresh.discard(id(worker))
                    except EOFError:
                        worker.process.join()
                        result = Failed(f"crashed with {worker.process.exitcode}")
                elif time.monotonic() - worker.started > limit:
                    result = Failed(f"not done after {limit:.0f} s")
                else:
                    continue
                yield worker.item, result
                dead = isinstance(result, Failed) and result.reason.startswith(("crash", "not d"))
                if dead:
                    worker.stop()
                if not waiting:
                    if not dead:
                        worker.stop()
                    workers[index] = None  # type: ignore[call-overload]
                    continue
                if dead:
                    workers[index] = worker = _Worker(work, memory)
                    fresh.add(id(worker))
                worker.give(*waiting.pop())
            workers = [worker for worker in workers if worker is not None]
    finally:
        for worker in workers:
            if worker is not None:
                worker.stop()
