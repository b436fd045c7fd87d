const moment = require('moment-timezone')
return [
  () => moment.tz('2026-03-29 01:59', 'Europe/Vienna').add(1, 'minute').format(),
  () => moment.tz('2026-03-29 02:30', 'Europe/Vienna').format(),
  () => moment.tz('2026-10-25 02:30', 'Europe/Vienna').format('LLL z Z'),
  () => moment.utc('2026-07-01T00:00:00Z').tz('America/New_York').format('YYYY-MM-DD HH:mm zz'),
  () => ['Asia/Taipei', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia', 'America/St_Johns', 'Africa/Casablanca', 'UTC']
    .map((zone) => moment.tz('2026-01-15T08:00:00Z', zone).format()),
  () => moment.tz('2026-05-01 09:00', 'Asia/Tokyo').diff(moment.tz('2026-05-01 09:00', 'Europe/London'), 'hours'),
  () => moment.tz.zone('Europe/Berlin').utcOffset(Date.UTC(2026, 6, 1)),
  () => moment.tz.zone('Mars/Olympus'),
  () => moment.tz.names().length > 400,
  () => moment.tz('12/24/2026 6pm', 'MM/DD/YYYY ha', 'America/Los_Angeles').toISOString(),
  () => [1, 3, 11].map((month) => moment.tz({ year: 2026, month, day: 1 }, 'America/Sao_Paulo').startOf('day').valueOf()),
]
