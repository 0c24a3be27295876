// Clients that use a server until it dies, and remember what it acknowledged.

// A generator of numbers in [0, 1) that a seed makes repeatable (mulberry32).
export function randomFrom(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// What a server has promised about one agent.
export class Ledger {
  constructor(id, name) {
    this.id = id;
    this.name = name;
    this.sent = new Map(); // text of a message -> {otid, acknowledged, ids: otids of what was shown as durable}
    this.facts = new Map(); // what a tool wrote into the block `facts` -> acknowledged
    this.notes = { sent: 0, acknowledged: 0 }; // the block `notes` holds a number that only rises
    this.runs = new Set(); // ids that were shown
    this.editing = false;
  }
}

export async function http(base, method, target, body) {
  const init = { method, headers: { 'x-stainless-package-version': '1.12.1', 'content-type': 'application/json' } };
  if (body !== undefined) init.body = JSON.stringify(body);
  const got = await fetch(base + target, init);
  const text = await got.text();
  if (got.status !== 200) throw new Refused(`${method} ${target}: ${got.status} ${text}`);
  return JSON.parse(text);
}

// An answer that is no success. While a server is up, none of these clients gives a reason for one.
export class Refused extends Error {}

export async function createAgent(base, ledgers, number) {
  const name = `crash-${number}`;
  const blocks = ['facts', 'notes'].map(label => ({ label, value: label === 'notes' ? '0' : '' }));
  const made = await http(base, 'POST', '/v1/agents/', { name, model: 'rehearsal/rehearsal', memory_blocks: blocks, include_base_tools: true });
  const ledger = new Ledger(made.id, name);
  ledgers.push(ledger);
  return ledger;
}

export async function editNotes(base, ledger) {
  if (ledger.editing) return;
  ledger.editing = true;
  try {
    const value = ++ledger.notes.sent;
    await http(base, 'PATCH', `/v1/agents/${ledger.id}/core-memory/blocks/notes`, { value: String(value) });
    ledger.notes.acknowledged = value;
  } finally {
    ledger.editing = false;
  }
}

function noteDurable(ledger, entry, message) {
  if (message.run_id) ledger.runs.add(message.run_id);
  if (message.otid && message.id) entry.shown.push(`${message.message_type} ${message.id} ${message.otid}`);
}

async function sendBlocking(base, ledger, entry, body) {
  const got = await http(base, 'POST', `/v1/agents/${ledger.id}/messages`, body);
  for (const m of got.messages) noteDurable(ledger, entry, m);
  if (got.stop_reason.stop_reason !== 'end_turn') throw new Refused(`ended by ${JSON.stringify(got.stop_reason)}`);
}

// Steps are shown when they are durable; of tokens only the end of the stream promises anything.
async function sendStreaming(base, ledger, entry, body, tokens, background) {
  const headers = { 'x-stainless-package-version': '1.12.1', 'content-type': 'application/json' };
  const got = await fetch(`${base}/v1/agents/${ledger.id}/messages/stream`, { method: 'POST', headers, body: JSON.stringify({ ...body, stream_tokens: tokens, background }) });
  if (got.status !== 200) throw new Refused(`stream: ${got.status} ${await got.text()}`);
  let text = '', done = false;
  const decoder = new TextDecoder();
  for await (const bytes of got.body) {
    text += decoder.decode(bytes, { stream: true });
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
      const data = text.slice(0, end).split('\n').filter(l => l.startsWith('data: ')).map(l => l.slice(6)).join('');
      if (data === '[DONE]') done = true;
      else if (data) {
        const event = JSON.parse(data);
        if (event.message_type === 'error_message' || event.error) throw new Refused(`stream: ${data}`);
        if (tokens) { if (event.run_id) ledger.runs.add(event.run_id); } else noteDurable(ledger, entry, event);
      }
    }
  }
  if (!done) throw new Error('the stream broke off');
}

let serial = 0;

export async function send(base, ledger, random) {
  const name = `m${++serial}`;
  const kind = ['plain', 'keep', 'twice', 'slow'][Math.floor(random() * 4)];
  const text = `${kind} ${name}`;
  const entry = { otid: `otid-${name}`, acknowledged: false, shown: [], answer: kind === 'plain' ? `heard ${text}` : kind === 'slow' ? `slow words about ${name}` : `kept ${name}` };
  const facts = kind === 'keep' ? [name] : kind === 'twice' ? [`${name}-a`, `${name}-b`] : [];
  ledger.sent.set(text, entry);
  for (const f of facts) ledger.facts.set(f, false);
  const body = { messages: [{ role: 'user', content: text, otid: entry.otid }] };
  const way = random();
  if (way < 0.4) await sendBlocking(base, ledger, entry, body);
  else await sendStreaming(base, ledger, entry, body, way < 0.7, random() < 0.4);
  entry.acknowledged = true;
  for (const f of facts) ledger.facts.set(f, true);
}

// Does one thing after another until the server is gone. What the server refuses is a failure of the test.
export async function useUntilGone(base, ledgers, random, isGone, next) {
  while (!isGone()) {
    const ledger = ledgers[Math.floor(random() * ledgers.length)];
    const what = random();
    try {
      if (what < 0.08) await createAgent(base, ledgers, next());
      else if (what < 0.3) await editNotes(base, ledger);
      else await send(base, ledger, random);
    } catch (e) {
      if (e instanceof Refused && !isGone()) throw e;
      if (isGone()) return;
      if (!isConnectionLoss(e)) throw e;
      await new Promise(setImmediate); // the end of the process is about to be known
    }
  }
}

const isConnectionLoss = e => e instanceof TypeError || e.cause?.code || e.code || /broke off|terminated|JSON/.test(e.message);
