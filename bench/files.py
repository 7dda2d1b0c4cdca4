"""State files of a given size, as a real run leaves them: half of the atoms resolved, a comment here and there."""

from __future__ import annotations

HEAD = """\
---
objective:
  goal: "Move the importer to the new parser without changing its output"
  base_case:
    checklist:
      - item: "Tests pass"
        check:
          type: command
          value: "make test && make lint"
      - item: "No leftovers"
        check:
          type: not_file
          value: "src/**/*.orig"
  background_intent: "The old parser is no longer maintained"
  deliverables: "Importer on the new parser"
  definition_of_done: "All tests pass, nothing is left over"
  constraints:
    max_iterations: 20
    max_parallel_agents: 3
    max_stall_count: 3

control:
  status: running        # pending | running | stopped | completed
  iteration: 4
  stall_count: 0
  prev_pending_count: 12
  stop_requested: false
  stop_reason: null
  redirect_requested: false

atoms:
"""


def state_file(atoms: int) -> bytes:
    lines = [HEAD]
    for number in range(1, atoms + 1):
        needs = ", ".join(f"A{one}" for one in (number - 1, number - 7) if one > 0)
        lines.append(
            f"  - id: A{number}\n"
            f'    description: "Port part {number} of the importer, keep its tests green"\n'
            f"    status: {'resolved' if number <= atoms // 2 else 'pending'}\n"
            f"    depends_on: [{needs}]\n"
        )
    lines.append("\ndecompositions: []\nor_groups: {}\nbindings:\n")
    lines += [
        f'  A{number}:\n    summary: "Ported part {number}"\n    artifacts: ["src/part{number}.py"]\n'
        for number in range(1, atoms // 2 + 1)
    ]
    lines.append("trail: []\ncorrections: []\n---\n\n# Original Prompt\n\nMove the importer to the new parser.\n")
    return "".join(lines).encode()
