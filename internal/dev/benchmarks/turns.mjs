// Runs turns of JavaScript frameworks, for comparison with this project. turns.go starts it:
//
//   node turns.mjs botbuilder
//   node turns.mjs grammy
//
// Each line of standard input is a number of milliseconds. The program runs turns until it has used that much CPU
// time, and prints a line of JSON: the nanoseconds of CPU time per turn, and the last reply.

import { createInterface } from 'node:readline'
import { MemoryStorage, TestAdapter, UserState } from 'botbuilder-core'
import { Bot, session } from 'grammy'

const entryCount = 10_000

// entryAt returns an entry with eight fields, the same as in turns.go.
const entryAt = (i) => ({
  _id: `e${i}`, name: `place ${i}`, area: ['north', 'east', 'south', 'west', 'centre'][i % 5], price: (i * 7919) % 20,
  seats: i % 12, taken: false, tags: ['a', i % 3], rating: (i % 50) / 10
})

const replyOf = (firstName, seats) => `${firstName}, there are ${seats} seats.`

// botbuilder keeps the user's state and the entries in a MemoryStorage, which copies them as JSON, as a remote storage
// does.
async function botbuilder () {
  const storage = new MemoryStorage()
  for (let i = 0; i < entryCount; i++) {
    await storage.write({ [`places/e${i}`]: entryAt(i) })
  }
  const users = new UserState(storage)
  const profiles = users.createProperty('profile')
  const key = 'places/e77'
  const adapter = new TestAdapter(async (context) => {
    const { [key]: entry } = await storage.read([key])
    entry.seats++
    await storage.write({ [key]: entry })
    const profile = await profiles.get(context, { firstName: 'Ada', meta: {} })
    profile.meta.seats = entry.seats
    await users.saveChanges(context)
    await context.sendActivity(replyOf(profile.firstName, profile.meta.seats))
  })
  return async () => {
    await adapter.sendTextToBot('seats?')
    return adapter.getNextReply().text
  }
}

// grammy keeps the session in memory without a copy; the entries are objects in a map.
async function grammy () {
  const entries = new Map(Array.from({ length: entryCount }, (_, i) => [`e${i}`, entryAt(i)]))
  const bot = new Bot('1:none', { botInfo: { id: 1, is_bot: true, first_name: 'Bot', username: 'bot' } })
  let sent
  bot.api.config.use(async (_next, _method, payload) => {
    sent = payload.text
    return { ok: true, result: { message_id: 1, date: 0, chat: { id: payload.chat_id, type: 'private' }, text: payload.text } }
  })
  bot.use(session({ initial: () => ({ meta: {} }) }))
  bot.on('message:text', async (context) => {
    const entry = entries.get('e77')
    entry.seats++
    context.session.meta.seats = entry.seats
    await context.reply(replyOf(context.from.first_name, context.session.meta.seats))
  })
  let count = 0
  return async () => {
    count++
    const from = { id: 7, is_bot: false, first_name: 'Ada' }
    await bot.handleUpdate({
      update_id: count,
      message: { message_id: count, date: 0, chat: { id: 7, type: 'private', first_name: 'Ada' }, from, text: 'seats?' }
    })
    return sent
  }
}

// used returns the CPU time of the process so far, in microseconds.
function used () {
  const { user, system } = process.cpuUsage()
  return user + system
}

// measure runs turns for a number of milliseconds of CPU time. It reads the time after bundles of turns that double in
// size, so that reading it costs little.
async function measure (turn, milliseconds) {
  const begin = used()
  let reply
  for (let bundle = 1, done = 0; ; bundle *= 2) {
    for (let i = 0; i < bundle; i++) {
      reply = await turn()
    }
    done += bundle
    const passed = used() - begin
    if (passed >= milliseconds * 1000) {
      return { nanoseconds: (passed * 1000) / done, reply }
    }
  }
}

const turn = await { botbuilder, grammy }[process.argv[2]]()
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await measure(turn, Number(line))))
}
