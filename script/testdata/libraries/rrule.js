const { RRule, RRuleSet, rrulestr, datetime } = require('rrule')
const start = datetime(2026, 1, 30, 9, 0)
return [
  () => new RRule({ freq: RRule.WEEKLY, interval: 2, byweekday: [RRule.MO, RRule.FR], dtstart: start, count: 6 }).all(),
  () => new RRule({ freq: RRule.MONTHLY, bymonthday: 31, dtstart: start, until: datetime(2026, 12, 31) }).all(),
  () => RRule.fromString('DTSTART:20260201T103000Z\nRRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU;COUNT=4').all(),
  () => new RRule({ freq: RRule.DAILY, count: 10, byweekday: RRule.TU.nth ? [RRule.TU] : [], dtstart: start }).toString(),
  () => RRule.fromText('every 2 weeks on Tuesday and Thursday for 6 times').toString(),
  () => new RRule({ freq: RRule.WEEKLY, byweekday: [RRule.MO], count: 3, dtstart: start }).toText(),
  () => new RRule({ freq: RRule.DAILY, dtstart: start }).between(datetime(2026, 5, 1), datetime(2026, 5, 4)),
  () => new RRule({ freq: RRule.HOURLY, interval: 7, dtstart: start }).after(datetime(2026, 6, 1), true),
  () => {
    const set = new RRuleSet()
    set.rrule(new RRule({ freq: RRule.DAILY, count: 4, dtstart: start }))
    set.exdate(datetime(2026, 1, 31, 9, 0))
    set.rdate(datetime(2026, 7, 1))
    return [set.all(), set.valueOf()]
  },
  () => rrulestr('DTSTART:20260101T000000Z\nRRULE:FREQ=MONTHLY;BYSETPOS=-1;BYDAY=MO,TU,WE,TH,FR;COUNT=3').all(),
  () => rrulestr('FREQ=NEVER'),
  () => new RRule({ freq: RRule.YEARLY, byeaster: 0, count: 3, dtstart: start }).all(),
]
