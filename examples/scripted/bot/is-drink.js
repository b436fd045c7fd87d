// Matches a typed or tapped drink. The node's actions find the drink in this.drink.
const event = this.messageEvent;
const said = event.data.text ?? event.data.payload ?? "";
this.drink = require("./drinks.json").find(({ name }) => name === said.trim().toLowerCase());
return this.drink !== undefined;
