// The coding agent letta-code against the server: it finishes a prompt, without a network and without an account.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { run } from '../lib/run.mjs';
import { call, startServer, temporaryFolder } from '../lib/server.mjs';

const program = path.resolve(import.meta.dirname, '../node_modules/@letta-ai/letta-code/letta.js');
const guard = path.resolve(import.meta.dirname, '../lib/loopback_only.cjs');
let server;

before(async () => { server = await startServer(); });
after(() => server.stop());

function lettaCode(home, ...args) {
  const env = { HOME: home, TERM: 'dumb', NODE_OPTIONS: `--require ${guard}`, LETTA_BASE_URL: server.base, LETTA_API_KEY: 'none', LETTA_CODE_TELEM: '0', DO_NOT_TRACK: '1', DISABLE_AUTOUPDATER: '1', LETTA_SKIP_KEYCHAIN_CHECK: '1' };
  return run(process.execPath, [program, '-p', ...args], { env, cwd: home });
}

test('a prompt is answered', async () => {
  const { code, stdout, stderr } = await lettaCode(temporaryFolder('home'), 'say hello');
  assert.equal(code, 0, stderr);
  assert.equal(stdout.trim(), 'hello');
  const { json: agents } = await call(server.base, 'GET', '/v1/agents/');
  assert.deepEqual(agents.map(a => a.name), ['Letta Code'], 'its agent is on the server');
});

test('a conversation goes on in the next call', async () => {
  const home = temporaryFolder('home');
  const turn = async (...args) => {
    const { code, stdout, stderr } = await lettaCode(home, ...args, '--yolo', '--output-format', 'json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const first = await turn('say one');
  const second = await turn('say two', '--conversation', first.conversation_id);
  assert.deepEqual([first.result, second.result], ['one', 'two']);
  assert.equal(second.agent_id, first.agent_id);
  const { json: messages } = await call(server.base, 'GET', `/v1/conversations/${first.conversation_id}/messages?order=asc`);
  assert.deepEqual(messages.filter(m => m.message_type === 'assistant_message').map(m => m.content), ['one', 'two']);
});
