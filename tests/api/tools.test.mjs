// Tools made from Python source: made, changed and removed; run by request and in turns; and what a bad one can do.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import Letta from '@letta-ai/letta-client';
import { obey, startModel } from '../lib/model.mjs';
import { call, eventually, startServer, temporaryFolder } from '../lib/server.mjs';
import { ways } from '../lib/turns.mjs';

let server, model, client, number = 0;

before(async () => {
  model = await startModel(async body => obey(body));
  server = await startServer({ env: { ...model.env, HARMLESS: 'seen', LETTA_SERVER_PASSWORD: 'hidden' }, args: ['--tool-timeout', '2', '--tool-memory', '1024', '--tools-at-once', '4'] });
  client = new Letta({ baseURL: server.base, maxRetries: 0 });
});
after(async () => { await server.stop(); model.stop(); });

const name = () => `tool_${++number}`;
// A tool with one argument, made from the lines of its body.
const source = (called, ...lines) => `def ${called}(word: str = "w"):\n    """Do it.\n\n    Args:\n        word (str): any\n    """\n${lines.map(l => `    ${l}`).join('\n')}\n`;
const make = async (...lines) => client.tools.create({ source_code: source(name(), ...lines) });
const agentWith = (tools, more = {}) => client.agents.create({ model: model.handle, embedding: 'letta/letta-free', include_base_tools: false, tool_ids: tools.map(t => t.id), memory_blocks: [{ label: 'notes', value: 'paper' }],
  model_settings: { provider_type: 'openai', parallel_tool_calls: true }, ...more });
const user = content => ({ messages: [{ role: 'user', content }] });
const runSource = async (source_code, args = {}, more = {}) => (await call(server.base, 'POST', '/v1/tools/run', { source_code, args, ...more })).json;
const runLines = (...lines) => runSource(source('f', ...lines));
const refused = (status, text) => error => { assert.equal(error.status, status); assert.match(JSON.stringify(error.error), text); return true; };
const processes = word => execFileSync('ps', ['-eo', 'args']).toString().split('\n').filter(line => line.includes(word) && !line.includes('ps -eo')).length;

describe('making tools', () => {
  test('name, description and schema come from the source; made again it is the same tool, changed', async () => {
    const called = name();
    const made = await client.tools.create({ source_code: source(called, 'return word'), tags: ['a'] });
    assert.equal(made.name, called);
    assert.equal(made.description, 'Do it.');
    assert.deepEqual(made.json_schema.parameters, { type: 'object', properties: { word: { type: 'string', description: 'any' } }, required: [] });
    const again = await client.tools.upsert({ source_code: source(called, 'return 2'), description: 'Mine.' });
    assert.equal(again.id, made.id);
    assert.deepEqual([again.description, again.tags], ['Mine.', ['a']]);
    assert.equal((await client.tools.retrieve(made.id)).source_code, source(called, 'return 2'));
  });

  test('what no schema can be made of is refused with the reason', async () => {
    const cases = [['def f(:\n', /invalid syntax/], ['x = 1\n', /No functions found/], ['def f(x: int):\n    return x\n', /missing docstring/], ['def f(x):\n    """D.\n\n    Args:\n        x: n\n    """\n', /lacks a type annotation/], ['def f(x: int):\n    """D."""\n', /lacks a description/]];
    for (const [source_code, why] of cases) await assert.rejects(client.tools.create({ source_code }), refused(400, why), source_code);
  });

  test('annotations and docstrings of many kinds', async () => {
    const of = async (annotation, words = 'x: n', before = '') => {
      const { status, json } = await call(server.base, 'POST', '/v1/tools/generate-schema', { code: `${before}def f(x: ${annotation}):\n    """D.\n\n    Args:\n        ${words}\n    """\n` });
      return status === 200 ? json.parameters : json.detail;
    };
    const integer = { type: 'integer' }, text = { type: 'string' };
    const shapes = [['str', text], ['int', integer], ['float', { type: 'number' }], ['bool', { type: 'boolean' }], ['dict', { type: 'object' }], ['list', { type: 'array', items: text }], ['List[List[int]]', { type: 'array', items: { type: 'array', items: integer } }],
      ['typing.Optional[int]', integer], ['"int"', integer], ['Literal["a", "b"]', { type: 'string', enum: ['a', 'b'] }]];
    for (const [annotation, shape] of shapes) assert.deepEqual((await of(annotation)).properties?.x, { ...shape, description: 'n' }, annotation);
    for (const annotation of ['Any', 'int | None', 'Dict[str, int]', 'Union[int, str]', 'Tuple[int, str]', 'Unknown']) assert.match(await of(annotation), /has no corresponding JSON schema type/, annotation);
    assert.deepEqual((await of('Optional[int]')).required, []);
    assert.equal((await of('int', 'x (int, optional): first\n            second\n\n    Raises:\n        ValueError: never')).properties.x.description, 'first\nsecond');
    const model = 'class In(BaseModel):\n    b: List[int]\n\nclass P(BaseModel):\n    """P."""\n    a: str = Field(description="what")\n    inner: Optional[In] = None\n    n: int = 3\n\n';
    assert.deepEqual((await of('P', 'x: n', model)).properties.x, { type: 'object', properties: { a: { ...text, description: 'what' }, inner: { type: 'object', properties: { b: { type: 'array', items: integer } }, required: ['b'] }, n: integer }, required: ['a'], description: 'n' });
  });

  test('a given schema is taken as it is, and its source may be anything', async () => {
    const called = name();
    const made = await client.tools.create({ source_code: `async def ${called}(x):\n    return x * 2\n`, json_schema: { name: called, description: 'Doubles.', parameters: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } } });
    assert.equal(made.description, 'Doubles.');
    const agent = await agentWith([made]);
    const { json } = await call(server.base, 'POST', `/v1/agents/${agent.id}/tools/${called}/run`, { args: { x: 1.5 } });
    assert.deepEqual([json.status, json.func_return], ['success', 3]);
  });

  test('a tool is changed by its owner, but not under the name of another', async () => {
    const [one, two] = [await make('return 1'), await make('return 2')];
    assert.equal((await client.tools.update(one.id, { return_char_limit: 10 })).return_char_limit, 10);
    await assert.rejects(client.tools.update(one.id, { source_code: source(two.name, 'return 3') }), refused(400, /does not match/));
    await assert.rejects(client.tools.update(one.id, { json_schema: two.json_schema }), refused(400, /already exists/));
    await assert.rejects(client.tools.create({ source_code: source('send_message', 'return 1') }), refused(409, /built-in/));
  });

  test('a tool that is deleted is gone from its agents', async () => {
    const made = await make('return 1');
    const agent = await agentWith([made]);
    await client.tools.delete(made.id);
    assert.deepEqual((await client.agents.retrieve(agent.id, { include: ['agent.tools'] })).tools, []);
    await assert.rejects(client.tools.retrieve(made.id), refused(404, /not found/));
  });
});

describe('running a source', () => {
  test('gives what it returns and what it prints', async () => {
    const { tool_return, status, stdout, stderr } = await runLines('import sys', 'print("out")', 'print("err", file=sys.stderr)', 'return {"a": (1, None), "b": {2}, 3: 2.5}');
    assert.deepEqual([tool_return, status, stdout, stderr], ["{'a': [1, None], 'b': '{2}', '3': 2.5}", 'success', ['out\n'], ['err\n']]);
  });

  test('what it prints through other programs is its output too', async () => {
    const { stdout } = await runLines('import subprocess', 'subprocess.run(["echo", "from a program"])');
    assert.deepEqual(stdout, ['from a program\n']);
  });

  test('arguments become what the schema says', async () => {
    const typed = 'from typing import List, Optional\nfrom dataclasses import dataclass\n\n@dataclass\nclass Point:\n    x: int\n    y: int\n\ndef f(n: int, r: float, yes: bool, names: List[str], at: Point, nothing: Optional[int] = None):\n    """D.\n\n    Args:\n        n: n\n        r: r\n        yes: y\n        names: n\n        at: a\n        nothing: n\n    """\n    return [n, r, yes, names, at.x + at.y, nothing]\n';
    const { tool_return } = await runSource(typed, { n: '7', r: '2.5', yes: 'true', names: '["a"]', at: { x: 1, y: 2 }, nothing: null });
    assert.equal(tool_return, "[7, 2.5, True, ['a'], 3, None]");
    const wrong = await runSource(typed, { n: 'seven', r: 1, yes: true, names: [], at: {} });
    assert.deepEqual([wrong.status, wrong.stdout], ['error', null]);
    assert.match(wrong.tool_return, /ValueError: invalid literal for int\(\)/);
  });

  test('exceptions are errors with their trace', async () => {
    const { status, tool_return, stderr } = await runLines('print("before")', 'raise KeyError("k")');
    assert.deepEqual([status, tool_return], ['error', "Error executing function None: KeyError: 'k'"]);
    assert.match(stderr[0], /Traceback[\s\S]*f\.py", line 8, in f[\s\S]*raise KeyError\("k"\)/);
  });

  test('a call that nobody expects so', async () => {
    const unknown = await runSource(source('f', 'return word'), { other: 1 });
    assert.match(unknown.tool_return, /unexpected keyword argument 'other'/);
    const ended = await runLines('import os', 'os._exit(7)');
    assert.match(ended.tool_return, /ProcessError: .*status 7/);
  });
});

describe('bounds', () => {
  test('a call that takes too long is ended, with all that it started', async () => {
    const word = `9999${process.pid}`;
    const began = Date.now();
    const { status, tool_return, stdout } = await runLines('import subprocess, time', `subprocess.Popen(["setsid", "sleep", "${word}"])`, 'print("begun", flush=True)', 'time.sleep(60)');
    assert.equal(status, 'error');
    assert.match(tool_return, /TimeoutError/);
    assert.deepEqual(stdout, ['begun\n']);
    assert.ok(Date.now() - began < 10_000);
    await eventually(async () => processes(`sleep ${word}`), n => n === 0);
  });

  test('a call that will not be ended is killed', async () => {
    const { tool_return } = await runLines('import signal, time', 'signal.signal(signal.SIGTERM, signal.SIG_IGN)', 'time.sleep(60)');
    assert.match(tool_return, /TimeoutError/);
  });

  test('a process that is killed says so, and the next call works', async () => {
    const { status, tool_return } = await runLines('import os', 'os.kill(os.getpid(), 9)');
    assert.equal(status, 'error');
    assert.match(tool_return, /ProcessError: .*signal 9/);
    const parent = await runLines('import os, time', 'os.kill(os.getppid(), 9)', 'time.sleep(60)');
    assert.match(parent.tool_return, /ProcessError: .*lost/);
    assert.equal((await runLines('return 1')).tool_return, '1');
  });

  test('whoever kills the keeper ends what runs, and the next call works', async () => {
    await runLines('import os, signal', 'for pid in os.listdir("/proc"):', '    if pid.isdigit() and int(pid) != os.getpid() and b"sandbox" in open(f"/proc/{pid}/cmdline", "rb").read():', '        os.kill(int(pid), signal.SIGKILL)');
    await eventually(async () => (await runLines('return 1')).tool_return, text => text === '1');
  });

  test('too much output is cut, too much memory refused, too large a result an error', async () => {
    const { stdout } = await runLines('print("x" * 10_000_000)');
    assert.match(stdout[0], /more bytes were left out/);
    assert.ok(stdout[0].length < 300_000);
    assert.match((await runLines('return len(bytearray(2 << 30))')).tool_return, /MemoryError/);
    assert.match((await runLines('return "x" * (20 << 20)')).tool_return, /more than can be kept/);
    const made = await client.tools.create({ source_code: source(name(), 'return "x" * 300'), return_char_limit: 100 });
    const agent = await agentWith([made]);
    const { json } = await call(server.base, 'POST', `/v1/agents/${agent.id}/tools/${made.name}/run`, {});
    assert.match(json.func_return, /^x{300}\.\.\. \[NOTE: .*: 300 > 100\]$/);
  });

  test('more calls than may run at once wait for each other', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => runLines('import time', 'time.sleep(0.1)', `return ${i}`)));
    assert.deepEqual(all.map(r => r.tool_return), Array.from({ length: 12 }, (_, i) => `${i}`));
  });

  test('its folder is its own and gone afterwards; the server keeps its secrets and its data', async () => {
    const file = path.join(server.data, 'data.mdb');
    assert.ok(fs.existsSync(file));
    const { tool_return } = await runLines('import os', 'open("here", "w").write("x")', `return [os.getcwd(), os.listdir("."), os.environ.get("HARMLESS"), os.environ.get("OPENAI_API_KEY"), os.environ.get("LETTA_SERVER_PASSWORD"), os.path.exists(${JSON.stringify(file)})]`);
    const [, folder, rest] = tool_return.match(/^\['([^']+)', (.*)\]$/);
    assert.ok(!fs.existsSync(folder));
    assert.match(rest, /^\['here'\], 'seen', None, None, (True|False)$/);
  });
});

for (const [way, send] of Object.entries(ways)) {
  describe(`in a turn, ${way}`, () => {
    test('the model reads what a tool returned, the client also what it printed', async () => {
      const made = await make('print("printed")', 'return word + "!"');
      const agent = await agentWith([made]);
      const { called, returned, said } = await send(client, agent.id, user(`call ${made.name} {"word":"hi"}`));
      assert.equal(called[0].name, made.name);
      assert.deepEqual(returned.map(r => [r.tool_return, r.status, r.stdout]), [['hi!', 'success', ['printed\n']]]);
      assert.match(said, /^done: [\s\S]*hi!/);
    });

    test('an error is told to the model, and the turn goes on', async () => {
      const made = await make('raise RuntimeError("no " + word)');
      const agent = await agentWith([made]);
      const { returned, stop, said } = await send(client, agent.id, user(`call ${made.name} {"word":"luck"}`));
      assert.deepEqual(returned.map(r => [r.tool_return, r.status]), [[`Error executing function ${made.name}: RuntimeError: no luck`, 'error']]);
      assert.equal(stop, 'end_turn');
      assert.match(said, /no luck/);
    });
  });
}

describe('in turns', () => {
  test('calls keep their order, beside built-in ones; those that may run side by side do', async () => {
    const slow = await client.tools.create({ source_code: source(name(), 'import time', 'time.sleep(0.6)', 'return word'), enable_parallel_execution: true });
    const memory = (await client.tools.list({ name: 'core_memory_append' })).items[0];
    const agent = await agentWith([slow, memory]);
    const began = Date.now();
    const { returned } = await ways.blocking(client, agent.id, user(`calls ${slow.name} {"word":"a"} ;; core_memory_append {"label":"notes","content":"ink"} ;; ${slow.name} {"word":"b"}`));
    assert.deepEqual(returned.map(r => r.tool_return), ['a', 'paper\nink', 'b']);
    assert.ok(Date.now() - began < 1_200, 'side by side');
    assert.equal((await client.agents.blocks.retrieve('notes', { agent_id: agent.id })).value, 'paper\nink');
  });

  test('the environment has the agent and its secrets', async () => {
    const made = await make('import os', 'return [os.environ["LETTA_AGENT_ID"], os.environ["KEY"], os.environ.get("EMPTY")]');
    const agent = await agentWith([made], { secrets: { KEY: 'sesame', EMPTY: '' } });
    const { returned } = await ways.blocking(client, agent.id, user(`call ${made.name}`));
    assert.equal(returned[0].tool_return, `['${agent.id}', 'sesame', '']`);
  });

  test('a tool may read its agent and change its blocks', async () => {
    const called = name();
    const made = await client.tools.create({ source_code: `def ${called}(agent_state: "AgentState", text: str):\n    """D.\n\n    Args:\n        text: what\n    """\n    agent_state.memory.update_block_value("notes", agent_state.memory.get_block("notes").value + text)\n    return agent_state.name\n` });
    const agent = await agentWith([made]);
    const { returned } = await ways.blocking(client, agent.id, user(`call ${called} {"text":" and ink"}`));
    assert.equal(returned[0].tool_return, agent.name);
    assert.equal((await client.agents.blocks.retrieve('notes', { agent_id: agent.id })).value, 'paper and ink');
  });

  test('a call that waits for a yes runs after it', async () => {
    const made = await client.tools.create({ source_code: source(name(), 'return "ran " + word'), default_requires_approval: true });
    const agent = await agentWith([made]);
    const { asked, stop } = await ways.blocking(client, agent.id, user(`call ${made.name} {"word":"x"}`));
    assert.equal(stop, 'requires_approval');
    const { returned } = await ways.blocking(client, agent.id, { messages: [{ type: 'approval', approvals: [{ type: 'approval', tool_call_id: asked[0].tool_call_id, approve: true }] }] });
    assert.equal(returned[0].tool_return, 'ran x');
  });

  test('cancelling ends a call that runs', async () => {
    const made = await make('import time', 'print("begun", flush=True)', 'time.sleep(60)');
    const agent = await agentWith([made]);
    const began = Date.now();
    const sent = ways.blocking(client, agent.id, user(`call ${made.name}`)).catch(e => e);
    const [run] = await eventually(async () => (await client.runs.list({ agent_id: agent.id })).items, list => list.length > 0);
    await new Promise(done => setTimeout(done, 300));
    await client.agents.messages.cancel(agent.id, { run_ids: [run.id] });
    await sent;
    assert.ok(Date.now() - began < 1_900, 'before its time was up');
    const listed = (await client.agents.messages.list(agent.id, { order: 'asc' })).items;
    const last = listed.filter(m => m.message_type === 'tool_return_message').at(-1);
    assert.match(last.tool_return, /cancelled/);
    const { said } = await ways.blocking(client, agent.id, user('say still there'));
    assert.equal(said, 'still there');
  });
});

describe('without a server', () => {
  const word = `8888${process.pid}`;
  for (const how of ['stop', 'kill'])
    test(`nothing of a call is left after a ${how}`, async () => {
      const own = await startServer({ env: model.env, args: ['--stop-timeout', '0'] });
      const sent = call(own.base, 'POST', '/v1/tools/run', { source_code: source('f', 'import subprocess', `subprocess.Popen(["setsid", "sleep", "${word}"])`, 'import time', 'time.sleep(60)'), args: {} }).catch(() => {});
      await eventually(async () => processes(`sleep ${word}`), n => n > 0);
      await own[how]();
      await sent;
      await eventually(async () => processes(`sleep ${word}`), n => n === 0);
    });

  // The tool counts its calls in a file of the machine, which it can write where it is not isolated.
  for (const background of [false, true])
    test(`a call that a kill interrupted is told of, not repeated${background ? '; its run goes on' : ''}`, async () => {
      const tried = path.join(temporaryFolder('tried'), 'calls');
      const start = data => startServer({ env: model.env, data, args: ['--tool-isolation', 'none'] });
      let own = await start();
      const api = () => new Letta({ baseURL: own.base, maxRetries: 0 });
      const made = await api().tools.create({ source_code: source(name(), `open(${JSON.stringify(tried)}, "a").write("x")`, 'import time', 'time.sleep(60)') });
      const agent = await api().agents.create({ model: model.handle, embedding: 'letta/letta-free', include_base_tools: false, tool_ids: [made.id] });
      const sent = call(own.base, 'POST', `/v1/agents/${agent.id}/messages`, { ...user(`call ${made.name}`), streaming: background, background }).catch(() => {});
      await eventually(async () => fs.existsSync(tried), Boolean);
      await own.kill();
      await sent;
      own = await start(own.data);
      const [run] = (await api().runs.list({ agent_id: agent.id })).items;
      const ended = await eventually(() => api().runs.retrieve(run.id), r => ['completed', 'failed'].includes(r.status));
      assert.equal(ended.status, background ? 'completed' : 'failed');
      const listed = (await api().agents.messages.list(agent.id, { order: 'asc' })).items.slice(1);
      assert.deepEqual(listed.map(m => m.message_type), ['user_message', 'tool_call_message', 'tool_return_message', ...(background ? ['assistant_message'] : [])]);
      assert.match(listed[2].tool_return, /may have had its effect/);
      assert.equal(fs.readFileSync(tried, 'utf8'), 'x');
      assert.equal((await ways.blocking(api(), agent.id, user('say hello'))).said, 'hello');
      await own.stop();
    });

  test('where there is no Python, calls say so', async () => {
    const own = await startServer({ env: model.env, args: ['--tool-python', 'no-such-python'] });
    const { status, text } = await call(own.base, 'POST', '/v1/tools/', { source_code: source('f', 'return 1') });
    assert.equal(status, 503);
    assert.match(text, /no-such-python/);
    await own.stop();
  });
});
