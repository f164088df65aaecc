"""Equal queries of one moment: the first of them is executed, and the others have its answer."""

from asyncio import Future, get_running_loop
from collections.abc import Awaitable, Callable, Hashable

from engine.calls import Answer
from engine.limits.answer_size import AnswerTooLarge


class Coalesced:
    """
    Executes once what is asked several times within a turn of the event loop.

    An execution is joined only by who had asked before it began. So what it reads is as new as what they would have
    read themselves, and whoever has written something finds it.
    """

    def __init__(self) -> None:
        self._joining: dict[
            Hashable, list[Future[Answer | AnswerTooLarge | None]]
        ] = {}  # who joins what began in this turn

    async def answer(self, question: Hashable, execute: Callable[[], Awaitable[Answer]]) -> Answer:
        """
        An answer with errors is nobody else's: they name the request, and the next may have none.

        Raises:
            AnswerTooLarge: it is so for all of them.
        """
        others = self._joining.get(question)
        if others is not None:
            joined: Future[Answer | AnswerTooLarge | None] = get_running_loop().create_future()
            others.append(joined)
            found = await joined
            if isinstance(found, AnswerTooLarge):
                raise AnswerTooLarge(found.limit)
            return found or await execute()
        if not self._joining:
            get_running_loop().call_soon(self._joining.clear)
        others = self._joining[question] = []
        shared: Answer | AnswerTooLarge | None = None
        try:
            answer = await execute()
            shared = None if answer.has_errors else answer
            return answer
        except AnswerTooLarge as refused:
            shared = refused
            raise
        finally:
            if self._joining.get(question) is others:
                del self._joining[question]
            for other in others:
                if not other.done():  # whoever asked may have gone
                    other.set_result(shared)
