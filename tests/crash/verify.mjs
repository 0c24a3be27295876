// After a crash: what was promised is there, once, and the histories are clean.
import assert from 'node:assert/strict';
import { http } from './clients.mjs';

const count = (list, x) => list.filter(y => y === x).length;

// A history is a system message and then turns: what a user said, calls with their returns, and an answer, which only
// an interrupted turn may lack.
function checkTurns(list, ledger) {
  let asked, open = [];
  for (const [i, m] of list.entries()) {
    const where = `${ledger.id}, message ${i} (${m.message_type} ${m.id})`;
    if (m.message_type === 'tool_return_message') {
      assert.ok(open.includes(m.tool_call_id), `${where}: a return without its call`);
      open = open.filter(id => id !== m.tool_call_id);
      continue;
    }
    assert.deepEqual(open, [], `${where}: a call before it has no return`);
    switch (m.message_type) {
      case 'system_message': assert.equal(i, 0, `${where}: not at the beginning`); break;
      case 'user_message': asked = m.content; break;
      case 'reasoning_message': assert.ok(asked, `${where}: nobody asked`); break;
      case 'tool_call_message': assert.ok(asked, `${where}: nobody asked`); open = [m.tool_call.tool_call_id]; break;
      case 'assistant_message':
        assert.ok(asked, `${where}: nobody asked`);
        assert.equal(m.content, ledger.sent.get(asked)?.answer, `${where}: the answer to something else`);
        asked = undefined;
        break;
      default: assert.fail(`${where}: unexpected`);
    }
  }
  assert.deepEqual(open, [], `${ledger.id}: the last call has no return`);
}

function checkMessages(list, ledger) {
  const keys = list.map(m => `${m.message_type} ${m.id} ${m.otid}`);
  assert.equal(new Set(keys).size, keys.length, `${ledger.id}: a message twice`);
  const seen = new Set(keys);
  const users = list.filter(m => m.message_type === 'user_message');
  const answers = list.filter(m => m.message_type === 'assistant_message').map(m => m.content);
  for (const m of users) assert.ok(ledger.sent.has(m.content), `${ledger.id}: nobody sent ${m.content}`);
  const texts = users.map(m => m.content);
  for (const [text, entry] of ledger.sent) {
    const n = count(texts, text);
    assert.ok(entry.acknowledged ? n === 1 : n <= 1, `${ledger.id}: "${text}" is there ${n} times`);
    if (n) assert.equal(users.find(m => m.content === text).otid, entry.otid);
    if (entry.acknowledged) assert.equal(count(answers, entry.answer), 1, `${ledger.id}: the answer to "${text}"`);
    for (const key of entry.shown) assert.ok(seen.has(key), `${ledger.id}: ${key} was shown and is not there`);
  }
}

function checkBlocks(blocks, ledger) {
  const valueOf = label => blocks.find(b => b.label === label).value;
  const notes = Number(valueOf('notes'));
  assert.ok(notes >= ledger.notes.acknowledged && notes <= ledger.notes.sent, `${ledger.id}: notes are ${notes}, acknowledged ${ledger.notes.acknowledged}, sent ${ledger.notes.sent}`);
  const lines = valueOf('facts').split('\n').filter(Boolean);
  for (const line of lines) assert.ok(ledger.facts.has(line), `${ledger.id}: nobody said ${line}`);
  for (const [fact, acknowledged] of ledger.facts) {
    const n = count(lines, fact);
    assert.ok(acknowledged ? n === 1 : n <= 1, `${ledger.id}: fact ${fact} is there ${n} times`);
  }
}

async function checkRuns(base, ledger) {
  for (const id of ledger.runs) {
    const run = await http(base, 'GET', `/v1/runs/${id}`);
    assert.ok(['completed', 'failed', 'cancelled'].includes(run.status), `run ${id} is ${run.status}`);
  }
  ledger.runs.clear(); // a run that has ended stays as it is
}

async function checkAgent(base, ledger) {
  const agent = await http(base, 'GET', `/v1/agents/${ledger.id}`);
  assert.equal(agent.name, ledger.name);
  const list = await http(base, 'GET', `/v1/agents/${ledger.id}/messages?limit=10000&order=asc`);
  assert.ok(list.length < 10000);
  checkMessages(list, ledger);
  checkTurns(list, ledger);
  checkBlocks(await http(base, 'GET', `/v1/agents/${ledger.id}/core-memory/blocks`), ledger);
  await checkRuns(base, ledger);
}

// What ran in the foreground has ended with its server; what ran in the background goes on and comes to its end.
async function awaitBackground(base) {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const active = await http(base, 'GET', '/v1/runs/active');
    for (const run of active) assert.ok(run.background, `run ${run.id} is ${run.status}, and nobody waits for it`);
    if (active.length === 0) return;
    assert.ok(Date.now() < deadline, `run ${active[0].id} is still ${active[0].status}`);
  }
}

export async function checkAll(base, ledgers) {
  await awaitBackground(base);
  for (const ledger of ledgers) await checkAgent(base, ledger);
}

// The next request works: for every agent a turn with a tool.
export async function checkNext(base, ledgers, send) {
  await Promise.all(ledgers.map(l => send(base, l, () => 0.3))); // blocking, with a call
}
