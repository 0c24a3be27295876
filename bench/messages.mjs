// What grows with use: readers of one run, and the length of a history. Each figure is printed; ratios are taken in one
// run.
//   node bench/messages.mjs [--readers N] [--messages N]
import { parseArgs } from 'node:util';
import { anonymous, cpuTime, load, startMock, startServer } from './lib.mjs';

const { values: options } = parseArgs({ options: { readers: { type: 'string', default: '100' }, messages: { type: 'string', default: '100000' } } });
const readers = +options.readers, most = +options.messages;
const mock = await startMock(), server = await startServer(mock);
const base = `http://127.0.0.1:${server.port}`;
const ask = async (method, target, body) => {
  const answer = await fetch(base + target, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  if (answer.status !== 200) throw new Error(`${method} ${target}: ${answer.status} ${await answer.text()}`);
  return answer;
};
const agent = async (model, more) => (await (await ask('POST', '/v1/agents/', { name: `of ${model.split('/').at(-1)}`, agent_type: 'letta_v1_agent', model, include_base_tools: false, ...more })).json()).id;
const print = (what, value, note = '') => console.log(`${what.padEnd(58)} ${value}${note && '   ' + note}`);

// -- many readers of one run in the background ----------------------------------------------------------------------------
// Gives the sequence ids that a stream showed; `first` hears of its first event.
async function follow(answer, first) {
  const ids = [];
  let rest = '';
  for await (const bytes of answer.body) {
    const lines = (rest + Buffer.from(bytes)).split('\n');
    rest = lines.pop();
    for (const line of lines.filter(l => l.startsWith('data: {'))) {
      const event = JSON.parse(line.slice(6));
      first?.(event);
      first = undefined;
      if (event.seq_id) ids.push(event.seq_id);
    }
  }
  return ids;
}

async function read(id, count) {
  const cpu = cpuTime(server.pid), began = performance.now();
  let run;
  const started = new Promise(ok => { run = ok; });
  const answer = await ask('POST', `/v1/agents/${id}/messages/stream`, { messages: [{ role: 'user', content: 'go on' }], stream_tokens: true, background: true });
  const whole = follow(answer, e => run(e.run_id));
  const target = `/v1/runs/${await started}/stream`;
  const others = Array.from({ length: count - 1 }, async () => follow(await ask('GET', target)));
  const all = await Promise.all([whole, ...others]);
  for (const ids of all)
    if (ids.length !== all[0].length || ids.some((n, i) => n !== all[0][i])) throw new Error(`a reader saw ${ids.length} events of ${all[0].length}`);
  return { events: all[0].length, cpu: cpuTime(server.pid) - cpu, ms: performance.now() - began };
}

const paced = await agent('bench/mock-501-1000');
await read(paced, 1);
const one = await read(paced, 1), many = await read(paced, readers);
print('a run in the background, one reader', `${one.ms.toFixed(0)} ms, ${(one.cpu / one.events).toFixed(0)} µs of CPU an event`);
print(`the same with ${readers} readers, each sees all ${many.events} events once`, `${many.ms.toFixed(0)} ms, ${((many.cpu - one.cpu) / (many.events * (readers - 1))).toFixed(1)} µs of CPU more an event and reader`);

// -- a long history -------------------------------------------------------------------------------------------------------
// The built-in model counts what it is sent: contexts are summed up as they are with a real one.
const talker = await agent('rehearsal/default', { context_window_limit: 16_000 });
const lines = n => Array.from({ length: n }, (_, i) => ({ role: 'user', content: `line ${i} of what somebody once said about the weather` }));
async function grow(from, to) {
  for (let n = from; n < to; n += 100) await ask('POST', `/v1/agents/${talker}/messages`, { messages: lines(99) });
}
const small = { connections: 1, count: 1000 };
const listed = async (what, target) => ({ what, p50: (await load(server.port, [`GET ${target}`], small)).p50 / 1e3 });
async function figures() {
  const ids = await (await ask('GET', `/v1/agents/${talker}/messages?limit=1000&order=asc`)).json();
  const middle = ids.at(-1).id;
  const list = `/v1/agents/${talker}/messages?limit=50`;
  return [
    await listed('the newest 50 messages', list),
    await listed('50 behind a cursor, oldest first', `${list}&order=asc&after=${middle}`),
    await listed('50 before a cursor, newest first', `${list}&before=${middle}`),
    { what: 'a turn', p50: (await load(server.port, [`POST /v1/agents/${talker}/messages ${JSON.stringify({ messages: lines(1) })}`], { connections: 1, count: 200 })).p50 / 1e3 },
  ];
}
let size = 0, before;
for (const next of [1000, 10_000, 100_000].filter(n => n <= most)) {
  await grow(size, size = next);
  const now = await figures();
  before ??= now;
  now.forEach((f, i) => print(`${f.what}, of ${size} messages: p50`, `${f.p50.toFixed(2)} ms`, `ratio to ${1000}: ${(f.p50 / before[i].p50).toFixed(2)}`));
}
print('memory of the server then, without its files', `${(anonymous(server.pid) / 2 ** 20).toFixed(1)} MiB`);
await Promise.all([server.stop(), mock.stop()]);
