// The command line: what goes wrong is one line that says what to do, and a code; the example works as it is printed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../lib/run.mjs';
import { binary, call, startServer, temporaryFolder } from '../lib/server.mjs';

process.setMaxListeners(0); // every server and folder waits for the end of this process

const troupe = (...args) => run(binary, args);

// It ended by itself, with a code, and one line.
function refused(got, pattern) {
  assert.equal(got.signal, null, `${got.signal}: ${got.err}`);
  assert.ok(got.code > 0, `code ${got.code}: ${got.out}`);
  assert.match(got.err, /^troupe: [^\n]+\n$/);
  assert.match(got.err, pattern);
}

// A folder with a store that a server has used: an agent, a few turns.
async function usedFolder() {
  const data = temporaryFolder();
  const server = await startServer({ data });
  const agent = (await call(server.base, 'POST', '/v1/agents/', { model: 'rehearsal/default', memory_blocks: [{ label: 'human', value: '' }] })).json.id;
  for (let i = 0; i < 5; ++i) assert.equal((await call(server.base, 'POST', `/v1/agents/${agent}/messages`, { input: `remember ${i} ${'x'.repeat(5000)}` })).status, 200);
  await server.stop();
  return data;
}

let folder;
const copyOfFolder = () => { const to = temporaryFolder(); fs.cpSync(folder, to, { recursive: true }); return to; };
const edit = (data, change) => {
  const file = path.join(data, 'data.mdb');
  fs.writeFileSync(file, change(fs.readFileSync(file)) ?? fs.readFileSync(file));
  return data;
};

before(async () => { folder = await usedFolder(); });

describe('flags', () => {
  const wrong = {
    'nothing': [[], /subcommand|command/i],
    'an unknown command': [['perform'], /perform|subcommand/i],
    'an unknown flag': [['serve', '--loud'], /--loud/],
    'a port that is none': [['serve', '--port', 'http'], /port/i],
    'a port that is too high': [['serve', '--port', '70000'], /port/i],
    'a flag without its value': [['serve', '--data'], /--data/],
    'a level that is none': [['serve', '--log-level', 'loud'], /log-level/],
    'no workers': [['serve', '--workers', '0'], /workers/],
    'a provider without an address': [['serve', '--port', '0', '--data', temporaryFolder(), '--provider', 'lab'], /NAME=URL/],
    'a rehearsal that is not there': [['serve', '--port', '0', '--data', temporaryFolder(), '--rehearsal', '/nowhere.json'], /nowhere\.json/],
    'a certificate that is not there': [['serve', '--port', '0', '--data', temporaryFolder(), '--tls-certificate', '/nowhere.pem'], /nowhere\.pem/],
    'a host that is unknown': [['serve', '--port', '0', '--data', temporaryFolder(), '--host', 'no.such.host.invalid'], /host/],
    'a configuration that is not there': [['serve', '--config', '/nowhere.conf'], /nowhere\.conf/],
    'a backup to nowhere': [['backup'], /to/],
  };
  for (const [what, [args, pattern]] of Object.entries(wrong))
    it(`${what}: one line`, async () => refused(await troupe(...args), pattern));

  it('--help is no error', async () => {
    for (const args of [['--help'], ['serve', '--help']]) {
      const got = await troupe(...args);
      assert.equal(got.code, 0);
      assert.match(got.out, /serve|--port/);
    }
  });

  it('version', async () => {
    const got = await troupe('version');
    assert.equal(got.code, 0);
    assert.match(got.out, /^troupe \d+\.\d+\.\d+\n$/);
  });
});

describe('what is in the way', () => {
  it('a port in use', async () => {
    const other = net.createServer().listen(0, '127.0.0.1');
    await new Promise(done => other.once('listening', done));
    refused(await troupe('serve', '--data', temporaryFolder(), '--port', String(other.address().port)), /port \d+ is in use.*--port/);
    other.close();
  });

  it('a data folder in use', async () => {
    const server = await startServer();
    refused(await troupe('serve', '--port', '0', '--data', server.data), /in use by another troupe.*--data/);
    assert.equal((await call(server.base, 'GET', '/v1/health/')).status, 200);
    await server.stop();
  });

  it('a data folder that cannot be one', async () => {
    const file = path.join(temporaryFolder(), 'file');
    fs.writeFileSync(file, 'x');
    refused(await troupe('serve', '--port', '0', '--data', file), /file/);
    refused(await troupe('serve', '--port', '0', '--data', path.join(file, 'below')), /file/);
  });

  it('no store to check or to copy', async () => {
    for (const args of [['check', '--data', temporaryFolder()], ['backup', '--data', temporaryFolder(), path.join(temporaryFolder(), 'copy')]])
      refused(await troupe(...args), /no store/);
  });
});

describe('a store', () => {
  it('that is sound: check counts what is there', async () => {
    const got = await troupe('check', '--data', folder);
    assert.equal(got.code, 0, got.err);
    assert.match(got.out, /^1 agents, 1 blocks, \d+ tools, \d+ messages, 5 runs/);
  });

  it('of a newer format', async () => {
    const data = edit(copyOfFolder(), bytes => {
      for (let at = bytes.indexOf('Mformat\0'); at >= 0; at = bytes.indexOf('Mformat\0', at + 1)) bytes[at + 8] = '9'.charCodeAt(0);
      return bytes;
    });
    refused(await troupe('serve', '--port', '0', '--data', data), /format 9.*newer/);
    refused(await troupe('check', '--data', data), /format 9.*newer/);
  });

  const unusable = {
    'its first pages overwritten': bytes => bytes.fill(0xa5, 0, 8192),
    'zeros at its beginning': bytes => bytes.fill(0, 0, 8192),
    'cut in the first page': bytes => bytes.subarray(0, 1000),
    'another file': () => Buffer.from('this is no store\n'.repeat(1000)),
  };
  for (const [what, change] of Object.entries(unusable))
    it(`${what}: check and serve say so`, async () => {
      refused(await troupe('check', '--data', edit(copyOfFolder(), change)), /damaged|restore a backup/);
      refused(await troupe('serve', '--port', '0', '--data', edit(copyOfFolder(), change)), /damaged|restore a backup/);
    });

  const partial = {
    'cut in half': bytes => bytes.subarray(0, Math.floor(bytes.length / 2)),
    'the second half overwritten': bytes => bytes.fill(0xa5, bytes.length / 2),
    'zeros in the second half': bytes => bytes.fill(0, bytes.length / 2),
  };
  for (const [what, change] of Object.entries(partial))
    it(`${what}: check says so; a server does not start, or ends with a line when it comes to the damage`, async () => {
      refused(await troupe('check', '--data', edit(copyOfFolder(), change)), /damaged|problems/);
      let server;
      try {
        server = await startServer({ data: edit(copyOfFolder(), change) });
      } catch (e) {
        return assert.match(e.message, /did not start \(1\): troupe: [^\n]*damaged[^\n]*\n$/);
      }
      for (const path of ['/v1/agents/', '/v1/blocks/', '/v1/tools/', '/v1/runs/', '/v1/steps/', '/v1/messages/'])
        await call(server.base, 'GET', path).catch(() => {}); // an answer, or the end of the server
      const ended = await server.stop();
      assert.equal(ended.signal, null);
      if (ended.code) assert.match(server.output(), /\ntroupe: [^\n]*damaged[^\n]*\n$/);
    });

  it('with an empty file is none yet', async () => refused(await troupe('check', '--data', edit(copyOfFolder(), () => Buffer.alloc(0))), /no store/));

  it('with any one page overwritten: check ends by itself, and so does a server that cannot start', async () => {
    const pages = fs.statSync(path.join(folder, 'data.mdb')).size / 4096;
    for (let page = 2; page < pages; ++page) {
      const data = edit(copyOfFolder(), bytes => bytes.fill(0xa5, page * 4096, (page + 1) * 4096));
      const got = await troupe('check', '--data', data);
      assert.equal(got.signal, null, `page ${page}: ${got.signal} ${got.err}`);
      if (got.code) refused(got, /damaged|problems/); // some pages are free
    }
  });

  it('is not copied over another one', async () => {
    const copy = path.join(temporaryFolder(), 'copy');
    assert.equal((await troupe('backup', '--data', folder, copy)).code, 0);
    refused(await troupe('backup', '--data', folder, copy), /copy/);
    assert.equal((await troupe('check', '--data', copy)).code, 0);
  });

  it('is copied while a server runs on it, and the copy serves', async () => {
    const server = await startServer({ data: copyOfFolder() });
    const copy = path.join(temporaryFolder(), 'copy');
    const got = await troupe('backup', '--data', server.data, copy);
    assert.equal(got.code, 0, got.err);
    const agents = (await call(server.base, 'GET', '/v1/agents/')).json.map(a => a.id);
    await server.stop();
    const second = await startServer({ data: copy });
    assert.deepEqual((await call(second.base, 'GET', '/v1/agents/')).json.map(a => a.id), agents);
    await second.stop();
  });
});

describe('talking', () => {
  let server;
  before(async () => { server = await startServer(); });
  after(() => server.stop());
  const chat = (input, ...args) => run(binary, ['chat', '--url', server.base, ...args], { input });

  it('chat creates an agent and streams its answers', async () => {
    const got = await chat('My name is Ada.\nWhat is my name?\n');
    assert.equal(got.code, 0, got.err);
    assert.match(got.out, /agent-[0-9a-f-]{36}/);
    assert.match(got.out, /> memory_insert\n(.*\n)?  = success/);
    assert.match(got.out, /Nice to meet you, Ada\./);
    assert.match(got.out, /Name: Ada/);
    assert.equal((await call(server.base, 'GET', '/v1/agents/count')).json, 1);
  });

  it('chat goes on with the same agent, also for one message', async () => {
    const got = await chat('', '--message', 'What is my name?');
    assert.equal(got.code, 0, got.err);
    assert.match(got.out, /Name: Ada/);
    assert.equal((await call(server.base, 'GET', '/v1/agents/count')).json, 1);
  });

  it('chat without a server, and with an agent that is not there', async () => {
    refused(await troupe('chat', '--url', 'http://127.0.0.1:9', '--message', 'x'), /no server answers.*troupe serve/);
    refused(await chat('', '--agent', 'nobody', '--message', 'x'), /nobody/);
    refused(await chat('', '--agent', 'agent-00000000-0000-4000-8000-00000000dead', '--message', 'x'), /404/);
  });

  it('the printed example works as it is printed', async t => {
    if ((await run('sh', ['-c', 'command -v curl'])).code) return t.skip('no curl here');
    const example = (await printed(server)).match(/another terminal:\n\n([\s\S]+?)\n\n/)[1];
    const got = await run('sh', ['-c', example]);
    assert.equal(got.code, 0, got.err);
    assert.match(got.out, /"message_type":"tool_return_message"/);
    assert.match(got.out, /data: \[DONE\]/);
    assert.match(got.out, /"value":"[^"]*Name: Ada"/);
  });

  it('so does the one of a server with a password', async t => {
    if ((await run('sh', ['-c', 'command -v curl'])).code) return t.skip('no curl here');
    const safe = await startServer({ args: ['--secure'], env: { LETTA_SERVER_PASSWORD: "it's a $ecret" } });
    const example = (await printed(safe)).match(/another terminal:\n\n([\s\S]+?)\n\n/)[1];
    const got = await run('sh', ['-c', example]);
    assert.match(got.out, /"value":"[^"]*Name: Ada"/);
    refused(await run(binary, ['chat', '--url', safe.base, '--message', 'x']), /password/);
    assert.equal((await run(binary, ['chat', '--url', safe.base, '--message', 'hello'], { env: { LETTA_SERVER_PASSWORD: "it's a $ecret" } })).code, 0);
    await safe.stop();
  });

  // The example comes after the list of models: wait for the line that ends it.
  async function printed(s) {
    while (!/core-memory\/blocks\/human\n/.test(s.output())) await new Promise(done => setTimeout(done, 5));
    return s.output() + '\n';
  }
});
