"""The baselines: in-file completion, RAG, and RepoCoder's iterations."""

from __future__ import annotations

from dataclasses import dataclass, field

from graphloc.completion.answer import read_body
from graphloc.completion.conversation import Account, Sampling
from graphloc.completion.errors import AnswerError
from graphloc.completion.fragments import (
    FRAGMENT_BUDGET_TOKENS,
    PREFIX_BUDGET_TOKENS,
    Fragment,
    HoleContext,
    Retriever,
    choose_fragments,
    make_context,
    render_fragments,
)
from graphloc.completion.model import Attempt, Completion, CompletionTask, StopCause
from graphloc.llm.prompt import Prompt, Stability
from indexes.errors import GraphlocError
from indexes.text.windows import SLICES, WINDOW_LINES
from repair.ports import ChatModel, ChatRequest

HALF_WINDOW = WINDOW_LINES // SLICES
REPOCODER_ITERATIONS = 4
"""Iterations of the paper's experiments, the first (plain RAG) included."""

_SYSTEM = (
    "You complete Python code. You are shown the start of a file, which stops where code is "
    "missing. Reply with the missing code only, in one fenced Python block, indented as it has to "
    "stand in the file. Do not repeat what is there already and add nothing that comes after it."
)


@dataclass(frozen=True, slots=True)
class Budgets:
    """Tokens of the two parts of a prompt."""

    prefix_tokens: int = PREFIX_BUDGET_TOKENS
    fragment_tokens: int = FRAGMENT_BUDGET_TOKENS


@dataclass(frozen=True, slots=True)
class InFile:
    """Completes from the lines in front of the hole alone."""

    model: ChatModel
    budgets: Budgets = Budgets()
    sampling: Sampling = field(default_factory=Sampling)
    name: str = "in-file"

    @property
    def fingerprint(self) -> str:
        """Settings and model."""
        return f"{self.name} {self.model.name} {self.budgets} {self.sampling}"

    def complete(self, task: CompletionTask) -> Completion:
        """Ask once."""
        account = Account(self.model, self.sampling)
        context = make_context(task.hole, budget_tokens=self.budgets.prefix_tokens)
        return _finish([_Asked(account, task, context).attempt()], account)


@dataclass(frozen=True, slots=True)
class RepoCoder:
    """Retrieves, completes, and retrieves again with what was completed.

    With one iteration it is the RAG baseline: the query is the last window in front of the hole,
    and what follows the windows found is shown. From the second on the query is half a window in
    front of the hole and the first half window of the last prediction, blank lines removed, and
    the windows are shown as found. A prediction without code ends it.
    """

    model: ChatModel
    retriever: Retriever
    iterations: int = REPOCODER_ITERATIONS
    budgets: Budgets = Budgets()
    sampling: Sampling = field(default_factory=Sampling)

    @property
    def name(self) -> str:
        """``rag`` or ``repocoder``, with the retriever if it is not the original one."""
        base = "rag" if self.iterations == 1 else "repocoder"
        return base if self.retriever.name == "jaccard" else f"{base}-{self.retriever.name}"

    @property
    def fingerprint(self) -> str:
        """Settings and model."""
        return f"{self.name} {self.model.name} {self.iterations} {self.budgets} {self.sampling}"

    def complete(self, task: CompletionTask) -> Completion:
        """Ask once an iteration; all predictions are in `Completion.attempts`."""
        account = Account(self.model, self.sampling)
        context = make_context(task.hole, budget_tokens=self.budgets.prefix_tokens)
        attempts: list[Attempt | GraphlocError] = []
        query = first_query(context)
        for iteration in range(self.iterations):
            fragments = self.find_fragments(context, query, moved=iteration == 0)
            attempt = _Asked(account, task, context, query, tuple(fragments)).attempt()
            attempts.append(attempt)
            if isinstance(attempt, GraphlocError) or not attempt.body:
                break
            query = next_query(context, attempt.body)
        return _finish(attempts, account)

    def find_fragments(self, context: HoleContext, query: str, *, moved: bool) -> list[Fragment]:
        """Return what a prompt shows, in its order."""
        found = self.retriever.find_fragments(context, query, moved=moved)
        return choose_fragments(found, budget_tokens=self.budgets.fragment_tokens)


def first_query(context: HoleContext) -> str:
    """Return the last 20 visible lines in front of the hole."""
    return "\n".join(context.last_lines(WINDOW_LINES))


def next_query(context: HoleContext, prediction: str) -> str:
    """Return ten lines in front of the hole and ten of the prediction, blank lines removed."""
    predicted = [line for line in prediction.split("\n") if line.strip()]
    lines = context.last_lines(HALF_WINDOW) + predicted[:HALF_WINDOW]
    return "\n".join(line for line in lines if line.strip())


def completion_prompt(
    task: CompletionTask, context: HoleContext, fragments: tuple[Fragment, ...] = ()
) -> Prompt:
    """Return the prompt of a baseline: fragments, then the visible lines of the file."""
    code = "\n".join([f"# {task.hole.path}", *context.visible_lines])
    shown = "\n".join(part for part in (render_fragments(fragments), code) if part)
    target = f"the body of {task.hole.function}" if task.hole.function else "the missing lines"
    asked = f"Write {target}, which comes next."
    prompt = Prompt().add(Stability.SYSTEM, _SYSTEM).add(Stability.BRANCH, task.requirement)
    return prompt.add(Stability.VOLATILE, f"```python\n{shown}\n```\n\n{asked}")


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question to the model."""

    account: Account
    task: CompletionTask
    context: HoleContext
    query: str = ""
    fragments: tuple[Fragment, ...] = field(default=())

    def attempt(self) -> Attempt | GraphlocError:
        prompt = completion_prompt(self.task, self.context, self.fragments)
        try:
            reply = self.account.ask(ChatRequest(prompt.messages()))
        except GraphlocError as error:
            return error
        try:
            body = read_body(reply.text, self.task.hole)
        except AnswerError:
            body = ""
        return Attempt(body, self.query, self.fragments)


def _finish(attempts: list[Attempt | GraphlocError], account: Account) -> Completion:
    """Make the result of the last prediction that holds code."""
    made = tuple(each for each in attempts if isinstance(each, Attempt))
    errors = [each for each in attempts if isinstance(each, GraphlocError)]
    body = next((each.body for each in reversed(made) if each.body), "")
    problem = str(errors[0]) if errors else "" if body else "the reply held no code"
    stop = StopCause.MODEL_FAILED if errors else StopCause.DONE
    return Completion(body, made, account.calls, account.usage, stop, problem)
