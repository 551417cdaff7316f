"""Proofs as self-contained HTML pages without external scripts, style sheets or fonts. Text from data is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from kg_reasoner.explain.displayed import displayed
from kg_reasoner.explain.readable_names import Names, axiom_text, show_rule, show_statement
from kg_reasoner.explain.steps import ProofSteps, Step
from kg_reasoner.explain.tree import Line, outline
from kg_reasoner.language.display_names import merged
from kg_reasoner.terms import term_text

__all__ = ["framed", "page", "proof_page", "proofs_page"]

_STYLE: Final = """
:root { --ink: #1d2733; --soft: #5d6b7a; --line: #d8dee5; --paper: #ffffff; --ground: #f4f6f8;
  --given: #1f7a3f; --given-ground: #e4f3e8; --rule: #8a5a00; --rule-ground: #fdf1d7; --no: #a3342b; --no-ground: #fae6e4;
  --check: #54469b; --check-ground: #ece9f7; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #9aa7b4; --line: #36404b; --paper: #1c232b; --ground: #12171d;
  --given: #7fd39a; --given-ground: #17361f; --rule: #f0c569; --rule-ground: #3a2d10; --no: #f2a49d; --no-ground: #44201d;
  --check: #b9aef2; --check-ground: #2b2548; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.35rem; line-height: 1.35; margin: 0 0 .35rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
p.facts { color: var(--soft); margin: 0 0 1.25rem; }
.tree { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1rem; }
details, .leaf { margin: .15rem 0; }
details > summary { cursor: pointer; padding: .2rem .4rem; border-radius: .35rem; }
details > summary:hover { background: var(--ground); }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--rule); }
.leaf { padding: .2rem .4rem .2rem 1.45rem; }
.below { margin-left: .75rem; padding-left: .75rem; border-left: 2px solid var(--line); }
.what { font-weight: 600; overflow-wrap: anywhere; }
.why { display: inline-block; margin-left: .45rem; padding: 0 .5rem; border-radius: 1rem; font-size: .82rem; white-space: normal; }
.rule { color: var(--rule); background: var(--rule-ground); }
.explicit, .stated, .literal { color: var(--given); background: var(--given-ground); }
.absent { color: var(--no); background: var(--no-ground); }
.checked, .computed, .aggregated, .solution { color: var(--check); background: var(--check-ground); }
.instance { color: var(--soft); font-size: .85rem; margin: .1rem 0 .35rem 1.45rem; overflow-wrap: anywhere; }
.instance code { color: var(--ink); }
code { font-family: ui-monospace, monospace; font-size: .92em; }
a { color: inherit; }
:target > summary .what, .leaf:target .what { text-decoration: underline wavy var(--rule); }
table { border-collapse: collapse; font-size: .9rem; }
td { padding: .1rem 1rem .1rem 0; }
"""


def proof_page(proof: ProofSteps) -> str:
    """Return the page of one proof."""
    return proofs_page([proof])


def proofs_page(proofs: Sequence[ProofSteps]) -> str:
    """Return the page of one or more proofs of a statement."""
    proofs = [displayed(proof) for proof in proofs]
    names = Names(merged(*(proof.prefixes for proof in reversed(proofs))))
    parts = []
    for number, proof in enumerate(proofs, start=1):
        if len(proofs) > 1:
            parts.append(f'<h2>Proof {number}</h2>\n<p class="facts">{escape(_summary(proof))}</p>\n')
        parts += [_tree(proof, tree, names, f"p{number}s", heading=place > 0) for place, tree in enumerate(outline(proof))]
    note = _summary(proofs[0]) if len(proofs) == 1 else f"{len(proofs)} proofs"
    return page(show_statement(proofs[0].conclusion, names), note, "".join(parts), names)


def _summary(proof: ProofSteps) -> str:
    rules, facts = len(proof.rules), len(proof.facts)
    kind = "the shortest proof" if proof.shortest else "a proof"
    return f"{kind}: height {proof.height}, {rules} rule{'s' * (rules != 1)}, {facts} given fact{'s' * (facts != 1)}"


def page(title: str, note: str, body: str, names: Names) -> str:
    """Return a page with a title (text), a note (text), a body (HTML), and finally the prefixes in use."""
    rows = "".join(
        f"<tr><td><code>{escape(prefix)}:</code></td><td><code>{escape(namespace)}</code></td></tr>"
        for prefix, namespace in sorted(names.used.items())
    )
    prefixes = f"<h2>Prefixes</h2><table>{rows}</table>" if rows else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(title)}</h1>\n<p class="facts">{escape(note)}</p>\n{body}{prefixes}\n</main>\n</body>\n</html>\n'
    )


def framed(whole: str, lines: int) -> str:
    """Return a page as a frame for a notebook, whose style it does not change and whose scripts it cannot reach.

    Args:
        whole: The page.
        lines: The number of lines to show at once, if they are not too many.
    """
    height = min(10 + 3 * lines, 40)
    return (
        f'<iframe srcdoc="{escape(whole, quote=True)}" sandbox="" title="explanation" '
        f'style="width: 100%; height: {height}em; border: 0"></iframe>'
    )


def _tree(proof: ProofSteps, tree: list[Line], names: Names, prefix: str, heading: bool) -> str:
    """Return one tree; the ids of its elements begin with `prefix`."""
    parts = []
    if heading:
        parts.append(f"<h2>{escape(show_statement(proof.steps[tree[0].step].statement, names))}</h2>\n")
    parts.append('<div class="tree">\n')
    open_parts = 0
    for line in tree:
        parts.append("</div></details>\n" * (open_parts - line.depth))
        open_parts = line.depth
        step = proof.steps[line.step]
        what = f'<span class="what">{_statement(step, names)}</span>'
        if line.premises != "whole":
            where = "shown above" if line.premises == "above" else "shown below"
            parts.append(
                f'<div class="leaf">{what}<span class="why rule"><a href="#{prefix}{line.step}">{where}</a></span></div>\n'
            )
        elif not step.premises and step.rule is None:
            parts.append(f'<div class="leaf">{what}{_why(step, names)}</div>\n')
        else:
            parts.append(
                f'<details open id="{prefix}{line.step}"><summary>{what}{_why(step, names)}</summary>\n<div class="below">'
            )
            parts.append(_instance(step, names) if step.rule is not None else "")
            open_parts += 1
    parts.append("</div></details>\n" * open_parts)
    parts.append("</div>\n")
    return "".join(parts)


def _statement(step: Step, names: Names) -> str:
    return escape(show_statement(step.statement, names))


def _why(step: Step, names: Names) -> str:
    if step.rule is None:
        return f'<span class="why {step.reason}">{escape(step.why)}</span>'
    origin = step.rule.origin
    name = origin.name or ("axiom" if origin.axiom else "rule")
    axiom = f" · {escape(axiom_text(origin.axiom, names))}" if origin.axiom else ""
    return f'<span class="why rule">{escape(name)}{axiom}</span>'


def _instance(step: Step, names: Names) -> str:
    """Return the rule and the values of its variables."""
    assert step.rule is not None
    rule = f"<code>{escape(step.rule.origin.text or show_rule(step.rule, names))}</code>"
    values = "".join(
        f"; <code>{escape(str(variable))}</code> = "
        f'<code title="{escape(term_text(term), quote=True)}">{escape(names.term(term))}</code>'
        for variable, term in step.bindings
        if not variable.name.startswith("_")
    )
    return f'<div class="instance">{rule}{values}</div>\n'
