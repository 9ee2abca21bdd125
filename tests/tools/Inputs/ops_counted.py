# Compares the counts of README.md with those of `foretrace ops --json`.
import json
import re
import sys

text = open(sys.argv[1]).read()
rows = json.load(open(sys.argv[2]))
rows = rows["ops"] if isinstance(rows, dict) else rows


def number(digits):
    return int(digits.replace(",", ""))


code, overloads = re.search(r"CPU code of ([\d,]+) overloads of ([\d,]+)",
                            text).groups()
fake = re.search(r"errors of ([\d,]+) overloads", text).group(1)
derived, constant = re.search(r"of ([\d,]+) overloads, and ([\d,]+) whose",
                              text).groups()
said = tuple(map(number, (code, overloads, fake, derived, constant)))
true = (sum(row["cpu"] for row in rows), len(rows),
        sum(row["fake"] for row in rows),
        sum(row["derivative"] == "yes" for row in rows),
        sum(row["derivative"] == "zero" for row in rows))
sys.exit(0 if said == true else f"README.md says {said}, it is {true}")
