// The coding agent letta-code against the server, without a network and without an account: prompts, its own tools in
// the loop, conversations taken up again, and two of it at once.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { barrier, obey, startModel } from '../lib/model.mjs';
import { run } from '../lib/run.mjs';
import { call, startServer, temporaryFolder } from '../lib/server.mjs';

const program = path.resolve(import.meta.dirname, '../node_modules/@letta-ai/letta-code/letta.js');
const guard = path.resolve(import.meta.dirname, '../lib/loopback_only.cjs');
const limit = { timeout: 600_000 };
let server, model, requests, together; // together: a barrier for those who say "meet"

// What was typed is the last part of the message; notes of the program come before it.
async function decide(body) {
  requests.push(body);
  const last = body.messages.at(-1);
  const content = Array.isArray(last.content) ? last.content.at(-1).text : last.content;
  if (last.role === 'user' && /^say meet/.test(content)) await together();
  return obey({ messages: [{ ...last, content }] });
}

before(async () => {
  model = await startModel(decide);
  server = await startServer({ env: model.env });
  requests = [];
});
after(async () => { await server.stop(); model.stop(); });

function lettaCode(base, home, ...args) {
  const env = { HOME: home, TERM: 'dumb', NODE_OPTIONS: `--require ${guard}`, LETTA_BASE_URL: base, LETTA_API_KEY: 'none', LETTA_CODE_TELEM: '0', DO_NOT_TRACK: '1', DISABLE_AUTOUPDATER: '1', LETTA_SKIP_KEYCHAIN_CHECK: '1' };
  return run(process.execPath, [program, '-p', ...args], { env, cwd: home });
}

// One prompt to the scripted model; gives the program's own account of it.
async function ask(home, prompt, ...args) {
  const { code, out, err } = await lettaCode(server.base, home, prompt, '--model', model.handle, '--output-format', 'json', ...args);
  assert.equal(code, 0, out + err);
  return JSON.parse(out);
}
const get = async target => (await call(server.base, 'GET', target)).json;
const conversation = id => get(`/v1/conversations/${id}/messages?order=asc`);
const said = messages => messages.filter(m => m.message_type === 'assistant_message').map(m => m.content);
const write = (home, text) => fs.writeFileSync(path.join(home, 'note.txt'), text);

describe('letta-code', limit, () => {
  test('answers a prompt, with the built-in model where nothing else is asked for', async () => {
    const own = await startServer();
    try {
      const { code, out, err } = await lettaCode(own.base, temporaryFolder('home'), 'say hello');
      assert.equal(code, 0, err);
      assert.equal(out.trim(), 'hello');
      const { json: agents } = await call(own.base, 'GET', '/v1/agents/');
      assert.deepEqual(agents.map(a => a.name), ['Letta Code'], 'its agent is on the server');
    } finally { await own.stop(); }
  });

  test('goes on with a conversation in the next call', async () => {
    const home = temporaryFolder('home');
    const first = await ask(home, 'say one');
    const second = await ask(home, 'say two', '--conversation', first.conversation_id);
    assert.deepEqual([first.result, second.result], ['one', 'two']);
    assert.deepEqual([second.agent_id, second.conversation_id], [first.agent_id, first.conversation_id]);
    assert.deepEqual(said(await conversation(first.conversation_id)), ['one', 'two']);
  });

  test('reads, runs and writes with its own tools', async () => {
    const home = temporaryFolder('home');
    write(home, 'the heron stands\n');
    const read = await ask(home, 'calls Read {"file_path":"note.txt"} ;; Bash {"command":"echo $((6 * 7)) and more","description":"counts"}', '--yolo');
    assert.match(read.result, /^done: /);
    const messages = await conversation(read.conversation_id);
    assert.deepEqual(messages.map(m => m.message_type).filter(t => t !== 'system_message'), ['user_message', 'approval_request_message', 'approval_response_message', 'tool_return_message', 'assistant_message']);
    const returns = messages.find(m => m.message_type === 'tool_return_message').tool_returns;
    assert.deepEqual(returns.map(r => r.status), ['success', 'success']);
    assert.match(JSON.stringify(returns[0].tool_return), /the heron stands/);
    assert.match(JSON.stringify(returns[1].tool_return), /42 and more/);
    assert.match(JSON.stringify(requests.at(-1).messages.filter(m => m.role === 'tool')), /heron.*42 and more/, 'the model has both');

    await ask(home, 'call Write {"file_path":"made.txt","content":"by the agent"}', '--yolo', '--conversation', read.conversation_id);
    assert.equal(fs.readFileSync(path.join(home, 'made.txt'), 'utf8'), 'by the agent');
  });

  test('denies a tool that it may not use, and says so to the model', async () => {
    const home = temporaryFolder('home');
    const denied = await ask(home, 'call Bash {"command":"touch made.txt","description":"touches"}', '--disallowedTools', 'Bash(touch:*)');
    assert.equal(fs.existsSync(path.join(home, 'made.txt')), false);
    const returns = (await conversation(denied.conversation_id)).find(m => m.message_type === 'tool_return_message').tool_returns;
    assert.deepEqual(returns.map(r => r.status), ['error']);
    assert.match(denied.result, /^done: .*denied/s);
  });

  test('answers what a session before it has left open', async () => {
    const home = temporaryFolder('home');
    const first = await ask(home, 'say one');
    const client_tools = [{ name: 'Bash', description: 'Runs a command.', parameters: { type: 'object', properties: { command: { type: 'string' } } } }];
    const left = await call(server.base, 'POST', `/v1/conversations/${first.conversation_id}/messages`, { messages: [{ role: 'user', content: 'call Bash {"command":"ls"}' }], client_tools, streaming: false });
    assert.equal(left.json.stop_reason.stop_reason, 'requires_approval', left.text);
    const then = await ask(home, 'say two', '--yolo', '--conversation', first.conversation_id);
    assert.equal(then.result.trim().split('\n').at(-1), 'two');
  });

  test('takes up an agent, in its default thread and in a new one', async () => {
    const home = temporaryFolder('home');
    const { agent_id } = await ask(home, 'say one');
    const plain = await ask(home, 'say plain', '--agent', agent_id, '--conv', 'default');
    assert.equal(plain.agent_id, agent_id);
    assert.deepEqual(said(await get(`/v1/agents/${agent_id}/messages?conversation_id=default`)), ['plain']);
    const again = await ask(home, 'say again', '--agent', agent_id, '--conv', 'default');
    assert.equal(again.result, 'again');
    assert.match(JSON.stringify(requests.at(-1).messages), /say plain/, 'what was said before is in view');
    const fresh = await ask(home, 'say fresh', '--agent', agent_id, '--new');
    assert.equal(fresh.agent_id, agent_id);
    assert.doesNotMatch(JSON.stringify(requests.at(-1).messages), /say plain/);
    assert.deepEqual(said(await conversation(fresh.conversation_id)), ['fresh']);
    assert.equal((await get('/v1/agents/')).filter(a => a.id === agent_id).length, 1);
  });

  test('works twice at once on one agent', async () => {
    const homes = [temporaryFolder('home'), temporaryFolder('home')];
    const { agent_id } = await ask(homes[0], 'say one');
    together = barrier(2);
    const both = await Promise.all(homes.map((home, i) => ask(home, `say meet ${i}`, '--agent', agent_id, '--new')));
    assert.deepEqual(both.map(b => b.result), ['meet 0', 'meet 1'], 'both were with the model at the same time');
    assert.deepEqual(both.map(b => b.agent_id), [agent_id, agent_id]);
    for (const [i, { conversation_id }] of both.entries()) assert.deepEqual(said(await conversation(conversation_id)), [`meet ${i}`]);
  });

  test('works twice at once in one thread, one after the other', async () => {
    const homes = [temporaryFolder('home'), temporaryFolder('home')];
    const { agent_id } = await ask(homes[0], 'say one');
    const both = await Promise.all(homes.map((home, i) => ask(home, `say turn ${i}`, '--agent', agent_id, '--conv', 'default')));
    assert.deepEqual(both.map(b => b.result), ['turn 0', 'turn 1']);
    assert.deepEqual(said(await get(`/v1/agents/${agent_id}/messages?conversation_id=default`)).toSorted(), ['turn 0', 'turn 1']);
  });
});
