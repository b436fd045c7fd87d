// Stores the answer to the previous question. Later messages contain it.
this.member.botMeta.tempData.city = this.messageEvent.data.text.trim();
return { member: this.member };
