return (this.member.customLocale || this.member.locale || "").indexOf("de") === 0;
