"""Calls operations over the bridge: python3 client.py http://localhost:8086"""

import json
import os
import sys
import urllib.error
import urllib.request


class OperationError(Exception):
    """An error of an operation, with its code, its operation and the parameter at fault."""

    def __init__(self, error):
        super().__init__(error.get("message", ""))
        self.code, self.operation, self.field = error["code"], error.get("op", ""), error.get("field", "")


def call(name, **params):
    """Calls an operation by its name, and returns its result."""
    request = urllib.request.Request(
        f"{sys.argv[1]}/operations/{name}",
        data=json.dumps(params).encode(),
        headers={"Authorization": "Bearer " + os.environ["BRIDGE_TOKEN"], "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        raise OperationError(json.load(refused)["error"]) from None


found = call("findAndModifyMember", filter={"firstName": "Ada"}, patch={"$set": {"meta.seen": True}}, option={"new": True})
member = found["member"]
call("upsertDataToDataSource", dataSourceId="orders", data={"tea": "Assam", "member": member["_id"]})
orders = call("countDataSource", dataSourceId="orders", filter={"member": member["_id"]})
call("sendResponse", response={"type": "TEXT", "text": f"Hello {member['firstName']}, orders: {orders}"})
print("orders:", orders)
try:
    call("getMember", memberId="nobody")
except OperationError as refused:
    print("refused:", refused.code, refused.operation)
