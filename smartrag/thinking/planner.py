"""From a question to a plan, before any evidence is looked for (paper §3.5, planning)."""

from __future__ import annotations

from smartrag.thinking.formats import PLAN_SCHEMA, parse_plan
from smartrag.thinking.model import LanguageModel
from smartrag.thinking.prompts import plan_prompt
from smartrag.types import ModelCall, Plan, Question

_MOST_TOKENS = 200


def plan_by_rules(question: Question) -> Plan:
    """The names of the question are the seeds; what is asked about them is left to the question.

    Retrieval then cuts the names that it can link out of the question and looks for the rest among
    their neighbours, which on HotpotQA and 2Wiki leaves a planner almost nothing to add.
    """
    return Plan("rules", tuple(dict.fromkeys(m.surface for m in question.mentions)))


def plan_by_model(question: Question, model: LanguageModel) -> tuple[Plan, ModelCall]:
    """A plan by the language model; the plan by rules when the reply holds none.

    Raises GenerationError.
    """
    made = model.generate(plan_prompt(question.text), schema=PLAN_SCHEMA, most_tokens=_MOST_TOKENS)
    call = ModelCall("plan", made.tokens_in, made.tokens_out, made.first_token_s, made.seconds)
    return parse_plan(made.text) or plan_by_rules(question), call
