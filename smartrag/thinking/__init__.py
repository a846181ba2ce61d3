"""Thinking: the few calls of a small language model, each accounted. No storage."""

from smartrag.thinking.answerer import Answered, answer
from smartrag.thinking.labeller import label_by_model
from smartrag.thinking.llama import LlamaModel
from smartrag.thinking.model import Generation, LanguageModel, OnText, Prompt
from smartrag.thinking.planner import plan_by_model, plan_by_rules
from smartrag.thinking.prompts import answer_prompt, render
from smartrag.thinking.scripted import ScriptedModel

__all__ = [
    "Answered",
    "Generation",
    "LanguageModel",
    "LlamaModel",
    "OnText",
    "Prompt",
    "ScriptedModel",
    "answer",
    "answer_prompt",
    "label_by_model",
    "plan_by_model",
    "plan_by_rules",
    "render",
]
