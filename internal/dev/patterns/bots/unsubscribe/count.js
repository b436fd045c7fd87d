this.member.meta.reminders = (this.member.meta.reminders || 0) + 1;
