const orders = await this.countDataSource({ dataSourceId: "orders", filter: { member: this.member._id } });
return orders % 5 === 0 ? "free" : null;
