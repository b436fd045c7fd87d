const { value } = this.messageEvent.data.payload;
this.member.meta.order ??= {};
this.member.meta.order.size = value?.size ?? "small";
this.member.meta.order.price = value?.price ?? 2.5;
