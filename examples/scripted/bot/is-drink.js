// A text or a tap; what is found stays on `this` for the actions of the node.
const event = this.messageEvent;
const said = event.data.text ?? event.data.payload ?? "";
this.drink = require("./drinks.json").find(({ name }) => name === said.trim().toLowerCase());
return this.drink !== undefined;
