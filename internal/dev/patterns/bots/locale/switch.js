const locales = { deutsch: "de_DE", english: "en_GB" };
this.member.customLocale = locales[this.messageEvent.data.text];
return { member: this.member };
