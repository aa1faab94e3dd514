"""Answers whether a call edits a file in a protected folder.

The event comes as one JSON object on stdin; `paths` holds the absolute paths of the files
that the call names. The answer is one JSON boolean: true blocks. A shell command names no
files in this sense; its text is in `command`.
"""

import json
import sys
from pathlib import PurePath

PROTECTED = "_sources"

event = json.load(sys.stdin)
print(json.dumps(any(PROTECTED in PurePath(path).parts for path in event["paths"])))
