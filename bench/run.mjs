// Measures a release build against a model that answers at once, and prints each figure beside its budget and beside
// a floor that was measured in the same run. Other work on the machine disturbs all of them alike: look at ratios.
//   node bench/run.mjs [--rounds N] [--agents N]
import os from 'node:os';
import { parseArgs } from 'node:util';
import { anonymous, cpuTime, holdStreams, lmdbFloor, load, median, resident, sleep, startEcho, startMock, startServer, storeSize } from './lib.mjs';

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, agents: { type: 'string', default: '2000' } } });
const rounds = +options.rounds, agentCount = +options.agents;

// -- the table ------------------------------------------------------------------------------------
const table = [];
// `most`: the budget is an upper bound; else a lower one. The floor may be unknown.
function figure(name, value, unit, { budget, most = true, floor, of = '' } = {}) {
  const show = x => `${x >= 100 ? Math.round(x) : +x.toPrecision(3)} ${unit}`;
  const kept = budget === undefined ? '' : (most ? value <= budget : value >= budget) ? 'ok' : 'OVER';
  const row = [name, show(value), budget === undefined ? '' : `${most ? '<=' : '>='} ${show(budget)}`, kept,
    floor === undefined ? '' : show(floor), floor === undefined ? '' : (value / floor).toPrecision(2), of];
  table.push(row);
  console.error(`${row[0]}: ${row[1]} ${row[3]}`);
}

function printTable() {
  const rows = [['figure', 'measured', 'budget', '', 'floor', 'ratio', 'the floor is'], ...table];
  const widths = rows[0].map((_, i) => Math.max(...rows.map(r => r[i].length)));
  for (const r of rows) console.log(r.map((cell, i) => cell.padEnd(widths[i])).join('  ').trimEnd());
}

// -- requests -------------------------------------------------------------------------------------
const said = { messages: [{ role: 'user', content: 'How is the weather on the other side of the hill today?' }] };
const turn = id => `POST /v1/agents/${id}/messages ${JSON.stringify(said)}`;
const tokens = id => `POST /v1/agents/${id}/messages ${JSON.stringify({ ...said, streaming: true, stream_tokens: true })}`;
const modelCall = (model, stream) => `POST /v1/chat/completions ${JSON.stringify({ model, stream, ...said })}`;
const firstToken = '"message_type":"assistant_message"';

const shuffled = list => list.map(x => [Math.random(), x]).sort((a, b) => a[0] - b[0]).map(([, x]) => x);

let herds = 0;
// Their ids. Agents that were made together lie together in the store; clients do not come in that order.
async function createAgents(server, model, count) {
  const tag = `herd-${++herds}`;
  const body = n => JSON.stringify({
    name: `${tag}-${n}`, agent_type: 'letta_v1_agent', model: `bench/${model}`, tags: [tag],
    memory_blocks: [{ label: 'human', value: 'The human likes short answers.' }, { label: 'persona', value: 'I am brief.' }],
  });
  await load(server.port, Array.from({ length: count }, (_, n) => `POST /v1/agents/ ${body(n)}`), { connections: 16 });
  const ids = [];
  for (let after = ''; ids.length < count;) {
    const answer = await fetch(`http://127.0.0.1:${server.port}/v1/agents/?tags=${tag}&limit=500&order=asc${after}`);
    const page = await answer.json();
    if (!page.length) throw new Error(`only ${ids.length} of ${count} agents are listed`);
    ids.push(...page.map(a => a.id));
    after = `&after=${ids.at(-1)}`;
  }
  return shuffled(ids);
}

// Runs all of these one after another, round by round; gives for each name the list of its results.
async function inTurns(measures) {
  const results = Object.fromEntries(Object.keys(measures).map(name => [name, []]));
  for (let i = 0; i < rounds; ++i)
    for (const [name, measure] of Object.entries(measures)) results[name].push(await measure());
  return results;
}
const middle = (results, pick) => median(results.map(pick));

// -- the figures ----------------------------------------------------------------------------------
async function startAndIdle(mock) {
  const first = await startServer(mock);
  figure('first start, with a new store', first.startMs, 'ms');
  await first.stop();
  const once = async begin => { const p = await begin(); await p.stop(); return p.startMs; };
  const r = await inTurns({ server: () => once(() => startServer(mock)), echo: () => once(startEcho) });
  figure('start to first answer', median(r.server), 'ms', { budget: 100, floor: median(r.echo), of: 'start of an echo server' });
  const server = await startServer(mock), echo = await startEcho();
  await sleep(1000);
  const cpu = cpuTime(server.pid);
  await sleep(3000);
  figure('idle CPU', (cpuTime(server.pid) - cpu) / 3e6 * 100, '% of a core', { budget: 0.5 });
  figure('idle memory', resident(server.pid) / 2 ** 20, 'MiB', { budget: 25, floor: resident(echo.pid) / 2 ** 20, of: 'an echo server' });
  await echo.stop();
  return server;
}

// What one turn leaves in the store; the store must be closed.
async function turnSize(server, mock, agents) {
  await server.stop();
  const before = await storeSize();
  server = await startServer(mock);
  await load(server.port, agents.map(turn), { connections: 16 });
  await server.stop();
  const after = await storeSize();
  const one = { records: Math.round((after.records - before.records) / agents.length), bytes: Math.round((after.bytes - before.bytes) / agents.length) };
  console.error(`a turn leaves ${one.records} records of ${one.bytes} bytes in all`);
  return { server: await startServer(mock), one };
}

async function turns(server, mock, echo, agents, one) {
  const body = `POST / ${JSON.stringify(said)}`, call = modelCall('mock-1', false);
  const lines = agents.map(turn);
  const alone = await inTurns({
    turn: () => load(server.port, lines, { count: 2000 }),
    echo: () => load(echo.port, [body], { count: 2000 }),
    mock: () => load(mock.port, [call], { count: 2000 }),
    lmdb: () => lmdbFloor(Math.ceil(one.records / 2), one.bytes / 2 | 0), // a turn is two commits: its run, and its step
  });
  const floor = q => middle(alone.echo, r => r[q]) + middle(alone.mock, r => r[q]) + 2 * middle(alone.lmdb, r => r[q]);
  const of = 'echo, call of the model, two commits';
  figure('durable turn, 1 connection, p50', middle(alone.turn, r => r.p50) / 1e3, 'ms', { budget: 1, floor: floor('p50') / 1e3, of });
  figure('durable turn, 1 connection, p99', middle(alone.turn, r => r.p99) / 1e3, 'ms', { budget: 3, floor: floor('p99') / 1e3, of });
  const crowd = { connections: 64, count: 10_000 };
  const many = await inTurns({
    turn: () => load(server.port, lines, crowd),
    echo: () => load(echo.port, [body], crowd),
    mock: () => load(mock.port, [call], crowd),
    lmdb: () => lmdbFloor(one.records, one.bytes),
  });
  const floorRate = 1 / (1 / middle(many.echo, r => r.rate) + 1 / middle(many.mock, r => r.rate) + 1 / middle(many.lmdb, r => r.turnsPerSecond));
  figure(`durable turns, 64 connections, ${agents.length} agents`, middle(many.turn, r => r.rate), 'turns/s',
    { budget: 5000, most: false, floor: floorRate, of: 'echo, call of the model, commits of 64 turns, one after another' });
  figure('  of them p50', middle(many.turn, r => r.p50) / 1e3, 'ms');
  figure('  of them p99', middle(many.turn, r => r.p99) / 1e3, 'ms');
  return { echo: middle(alone.echo, r => r.p50), commit: middle(alone.lmdb, r => r.p50) };
}

async function firstTokens(server, mock, agents, floors) {
  const r = await inTurns({
    through: () => load(server.port, agents.map(tokens), { count: 500, mark: firstToken }),
    direct: () => load(mock.port, [modelCall('mock-1', true)], { count: 500, mark: '"content"' }),
  });
  figure('added time to first token', (middle(r.through, x => x.mark.p50) - middle(r.direct, x => x.mark.p50)) / 1e3, 'ms',
    { budget: 0.5, floor: (floors.echo + floors.commit) / 1e3, of: 'echo, one commit (the run is durable first)' });
}

// The CPU time of streams of 501 tokens above that of streams of 1.
async function cpuPerToken(server, mock, model) {
  const [long, short] = [await createAgents(server, model, 16), await createAgents(server, 'mock-1', 16)];
  const spent = async agents => {
    const before = [server, mock].map(p => cpuTime(p.pid));
    await load(server.port, agents.map(tokens), { connections: 4 });
    return [server, mock].map((p, i) => cpuTime(p.pid) - before[i]);
  };
  await spent(long);
  const r = await inTurns({ long: () => spent(long), short: () => spent(short) });
  return [0, 1].map(i => (middle(r.long, x => x[i]) - middle(r.short, x => x[i])) / (500 * long.length));
}

async function streamedTokens(server, mock) {
  const of = 'the mock, that only writes them';
  const [paced, pacedFloor] = await cpuPerToken(server, mock, 'mock-501-1000');
  figure('CPU per token, one each ms', paced, 'µs', { budget: 30, floor: pacedFloor, of });
  const [burst, burstFloor] = await cpuPerToken(server, mock, 'mock-501');
  figure('CPU per token, all at once', burst, 'µs', { budget: 30, floor: burstFloor, of });
}

async function openStreams(server) {
  const agents = await createAgents(server, 'mock-hold', 1000);
  const before = anonymous(server.pid);
  const during = await holdStreams(server.port, agents.map(tokens), firstToken, async () => { await sleep(500); return anonymous(server.pid); });
  figure('memory per open stream, 1000 of them', (during - before) / 1000 / 1024, 'KiB', { budget: 32 });
}

// A server that has worked for some agents meets the others for the first time, and each of them once more.
async function activation(server, mock, agents) {
  await server.stop();
  server = await startServer(mock);
  const known = agents.slice(0, 100), others = agents.slice(100);
  await load(server.port, known.map(turn), { connections: 1, count: 2 * others.length });
  await sleep(1500);
  const before = anonymous(server.pid);
  const { groups: [cold, warm] } = await load(server.port, others.flatMap(id => [turn(id), turn(id)]), { groups: 2 });
  figure('activation: first turn above second, p50', cold.p50 - warm.p50, 'µs', { budget: 50 });
  await sleep(1500);
  figure('memory per idle agent', (anonymous(server.pid) - before) / others.length / 1024, 'KiB', { budget: 4 });
  return server;
}

async function listing(server, agents, floors) {
  const lines = agents.map(id => `GET /v1/agents/${id}/messages?limit=50`);
  const r = await load(server.port, lines, { count: 2000 });
  const { records } = await storeSize();
  figure('listing 50 messages, p50', r.p50 / 1e3, 'ms', { floor: floors.echo / 1e3, of: `echo; the store has ${records} records` });
}

// How long others wait for the I/O thread while somebody sends bodies of 30 MiB.
async function largeBodies(server, agents, floors) {
  const body = JSON.stringify({ description: 'x', unknown: Array(900_000).fill('x'.repeat(30)) });
  let done = false;
  const posting = load(server.port, [`PATCH /v1/agents/${agents[0]} ${body}`], { count: 6 }).finally(() => { done = true; });
  const waits = [];
  while (!done) waits.push((await load(server.port, ['GET /v1/health/'], { count: 100 })).max);
  const { p50 } = await posting;
  figure('a body of 30 MiB, p50', p50 / 1e3, 'ms');
  figure('  longest wait of another request meanwhile', Math.max(...waits) / 1e3, 'ms', { floor: floors.echo / 1e3, of: 'echo' });
}

const began = os.loadavg()[0];
const [mock, echo] = [await startMock(), await startEcho()];
let server = await startAndIdle(mock);
const agents = await createAgents(server, 'mock-1', agentCount);
let one;
({ server, one } = await turnSize(server, mock, agents));
const floors = await turns(server, mock, echo, agents, one);
await firstTokens(server, mock, agents, floors);
await streamedTokens(server, mock);
await openStreams(server);
server = await activation(server, mock, agents);
await listing(server, agents, floors);
await largeBodies(server, agents, floors);
await Promise.all([server, mock, echo].map(p => p.stop()));
console.log(`\n${os.cpus().length} x ${os.cpus()[0].model}; load average ${began.toFixed(2)} before, ${os.loadavg()[0].toFixed(2)} after; medians of ${rounds} rounds\n`);
printTable();
