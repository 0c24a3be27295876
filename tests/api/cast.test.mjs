// The demo cast, and groups in the terminal: what `serve --cast` makes, `troupe groups` lists and `troupe chat` shows.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { run } from '../lib/run.mjs';
import { binary, call, eventually, startServer, temporaryFolder } from '../lib/server.mjs';

const data = temporaryFolder();
let server;
const start = async more => { server = await startServer({ args: ['--cast'], data, ...more }); await eventually(() => server.output(), text => /another terminal:\n[\s\S]+\n\n$/.test(text)); };
before(() => start());
after(() => server.stop());

const troupe = (command, ...args) => run(binary, [command, '--url', server.base, ...args]);
const shown = async (command, ...args) => {
  const got = await troupe(command, ...args);
  assert.equal(got.code, 0, got.err);
  return got.out;
};
const refused = async (pattern, ...args) => {
  const got = await troupe(...args);
  assert.equal(got.code, 1, got.out);
  assert.match(got.err, /^troupe: [^\n]+\n$/);
  assert.match(got.err, pattern);
};
const count = async () => [(await call(server.base, 'GET', '/v1/agents/count')).json, (await call(server.base, 'GET', '/v1/groups/count')).json];

describe('the cast', () => {
  test('is there, and the start says what to type', async () => {
    assert.deepEqual(await count(), [8, 3]);
    const lines = server.output().split('\n').filter(l => l.includes(' chat ') || l.includes(' groups '));
    assert.equal(lines.length, 5);
    for (const line of lines) {
      const got = await run('sh', ['-c', line]);
      assert.equal(got.code, 0, `${line}: ${got.err}`);
    }
  });

  test('groups lists them', async () => {
    const id = 'group-[0-9a-f-]{36}';
    const lines = (await shown('groups')).trimEnd().split('\n');
    assert.equal(lines.length, 6);
    const text = lines.join('\n');
    assert.match(text, new RegExp(`The round table: Mira, Olaf, Zora\n  round_robin, ${id}`));
    assert.match(text, new RegExp(`The travel desk: Nora leads Finn, Lena\n  supervisor, ${id}`));
    assert.match(text, new RegExp(`Sam's memory: Sam-sleeptime, after every turn\n  sleeptime, ${id}`));
  });

  test('a round table: a line each, who has heard the others, and why they spoke', async () => {
    const lines = (await shown('chat', '--group', 'round table', '-m', 'Should we buy a boat?')).trimEnd().split('\n');
    assert.deepEqual(lines.map(l => l.match(/^\w+: |^ {2}\(/)?.[0]), ['Mira: ', 'Olaf: ', 'Zora: ', '  (']);
    assert.match(lines[0], /^Mira: \[Somebody wants to buy a boat\. Good\.\] Yes!/);
    assert.match(lines[1], /What does it cost to buy a boat, and/);
    assert.match(lines[2], /Olaf asks the right thing: "What does it cost to buy a boat, and/);
    assert.equal(lines[3], '  (Mira spoke: next in order; Olaf spoke: next in order; Zora spoke: next in order)');
  });

  test('a supervisor: its call, what it got, with names for ids', async () => {
    const text = await shown('chat', '--group', 'The travel desk', '-m', 'A weekend in Lisbon, please');
    assert.match(text, /^Nora: \[[^\]]+\]\n {2}> send_message_to_all_agents_in_group\n/);
    assert.match(text, /Nora: Both have answered\. .*Finn said: .*Lisbon.*Lena said: .*Lisbon/);
    assert.doesNotMatch(text, /agent-/);
    assert.match(text, /\(Nora led: the manager begins; Finn answered: .*; Lena answered: .*; Nora led: everybody has answered\)\n$/);
  });

  test('a companion: it is seen to work, and its agent knows', async () => {
    const told = await shown('chat', '--agent', 'Sam', '-m', 'I love old maps.');
    assert.match(told, /\(Sam's memory is being tidied up\)\n$/);
    await eventually(() => shown('chat', '-m', 'What do you know about me?'), text => /^- Likes: old maps$/m.test(text));
  });

  test('the trace of a run', async () => {
    const group = (await call(server.base, 'GET', '/v1/groups/?limit=10')).json.find(g => g.manager_type === 'round_robin');
    const answer = await call(server.base, 'POST', `/v1/groups/${group.id}/messages`, { messages: [{ role: 'user', content: 'hello' }] });
    const text = await shown('groups', '--trace', answer.json.messages[0].run_id);
    assert.match(text, /^The round table\n {2}Mira spoke: next in order \(completed, \d+ tokens, run-[0-9a-f-]{36}\)\n {2}Olaf /);
    await refused(/no group has a run/, 'groups', '--trace', 'run-00000000-0000-4000-8000-000000000000');
  });

  test('groups are found by id, description, words; or nothing is said to anybody', async () => {
    const group = (await call(server.base, 'GET', '/v1/groups/?limit=10')).json.find(g => g.manager_type === 'round_robin');
    for (const wanted of [group.id, 'THE ROUND TABLE', 'the r', 'table'])
      assert.match(await shown('chat', '--group', wanted, '-m', 'hello'), /^Mira: /);
    await refused(/no group "tab"/, 'chat', '--group', 'tab', '-m', 'hello');
    await refused(/more than one group: The round table \(group-.*The travel desk/, 'chat', '--group', 'the', '-m', 'hello');
  });
});

test('a second start makes nothing again, completes what is missing, and leaves a store with others alone', async () => {
  await server.stop();
  await start();
  assert.deepEqual(await count(), [8, 3]);
  const group = (await call(server.base, 'GET', '/v1/groups/?limit=10')).json.find(g => g.manager_type === 'supervisor');
  assert.equal((await call(server.base, 'DELETE', `/v1/groups/${group.id}`)).status, 200);
  await server.stop();
  await start();
  assert.deepEqual(await count(), [8, 3]);
  const mine = await call(server.base, 'POST', '/v1/agents/', { name: 'mine', model: 'rehearsal/default' });
  assert.equal(mine.status, 200);
  const mira = (await call(server.base, 'GET', '/v1/agents/?name=Mira')).json[0];
  assert.equal((await call(server.base, 'DELETE', `/v1/agents/${mira.id}`)).status, 200);
  await server.stop();
  await start();
  assert.deepEqual(await count(), [8, 3]);
  assert.doesNotMatch(server.output(), /round table/);
});

test('with a password, what is printed works all the same', async () => {
  await server.stop();
  await start({ data: temporaryFolder(), args: ['--cast', '--secure'], env: { LETTA_SERVER_PASSWORD: "it's a $ecret" } });
  const line = server.output().split('\n').find(l => l.includes(' --group '));
  const got = await run('sh', ['-c', line]);
  assert.equal(got.code, 0, got.err);
  assert.match(got.out, /^Mira: /);
});
