var event = this.messageEvent;
if (!event || event.type !== "PAYLOAD") {
  return false;
}
var payload = event.data.payload;
return payload === "size" || payload.payload === "size";
