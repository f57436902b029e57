"""Play an exported test in the terminal without the engine:  python play_policy.py test.json"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    graph = json.load(file)
node = graph["nodes"][0]
while "ask" in node:
    question = graph.get("questions", {}).get(node["ask"], {})
    print(f"{node['ask']}  {question.get('text', '')}".rstrip())
    for option in question.get("options", []):
        print(f"   - {option}")
    ways = {"skip": node["skip"], **node["then"]} if "skip" in node else node["then"]
    print(f"   {' | '.join(ways)} > ", end="", flush=True)
    answer = sys.stdin.readline()
    if not answer:
        sys.exit("\nThe answers ended before the test.")
    if answer.strip() not in ways:
        print("   One of these words, please.")
    elif ways[answer.strip()] is None:
        print("   That cannot be: the earlier answers exclude it.")
    else:
        node = graph["nodes"][ways[answer.strip()]]
print(node.get("stop") or node["end"])
for skill, known in node["beliefs"].items():
    bounds = zip(graph["skills"][skill], known["lower"], known["upper"], strict=True)
    print(f"{skill}: {known['level']}  ({', '.join(f'{level} {low:.3f}-{high:.3f}' for level, low, high in bounds)})")
