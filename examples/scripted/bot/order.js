this.member.botMeta.tempData.drink = this.drink;
await this.upsertDataToDataSource({
  dataSourceId: "orders",
  data: { member: this.member._id, drink: this.drink.name, at: Date.now() },
});
console.log(`${this.member.firstName} orders`, this.drink);
