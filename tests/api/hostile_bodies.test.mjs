// The JSON border: whatever a body, a path or a query holds gets the right error, and never an internal one.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { call, startServer } from '../lib/server.mjs';
import { exchange, request } from '../lib/raw.mjs';

const nobody = '00000000-0000-4000-8000-00000000dead';
let server, agent;

const residentMiB = () => +fs.readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1] / 1024;
const post = (target, body) => call(server.base, 'POST', target, body);
const get = target => call(server.base, 'GET', target);
// Bytes that no JavaScript string can hold.
const postBytes = (target, bytes) => exchange(server.port, request('POST', target, bytes));

before(async () => {
  server = await startServer();
  agent = (await post('/v1/agents/', { name: 'target', model: 'rehearsal/default', memory_blocks: [{ label: 'human', value: 'x' }] })).json.id;
});
after(async () => { await server.stop(); assert.equal((await server.exited).code, 0); });
afterEach(async () => assert.equal((await get(`/v1/agents/${agent}`)).json?.id, agent));

describe('JSON that is none', () => {
  const broken = {
    '{': ["('body', 1)", 'Expecting property name enclosed in double quotes'],
    '{"a"': ["('body', 4)", "Expecting ':' delimiter"],
    '{"a":': ["('body', 5)", 'Expecting value'],
    '{"a":1': ["('body', 6)", "Expecting ',' delimiter"],
    '{"a":1,': ["('body', 7)", 'Expecting property name enclosed in double quotes'],
    '[1,]': ["('body', 3)", 'Expecting value'],
    '{"é":x}': ["('body', 5)", 'Expecting value'],
    '{}{}': ["('body', 2)", 'Extra data'],
    '"a': ["('body', 0)", 'Unterminated string starting at'],
    '"\\x"': ["('body', 1)", 'Invalid \\\\escape'],
    '"\\u12"': ["('body', 2)", 'Invalid \\\\uXXXX escape'],
    '"\t"': ["('body', 1)", 'Invalid control character at'],
    "{'a':1}": ["('body', 1)", 'Expecting property name enclosed in double quotes'],
    'tru': ["('body', 0)", 'Expecting value'],
    '01': ["('body', 1)", 'Extra data'],
    '\u0000': ["('body', 0)", 'Expecting value'],
    ' ': ["('body', 1)", 'Expecting value'],
  };
  for (const [text, [loc, message]] of Object.entries(broken))
    it(`${JSON.stringify(text)}: 422, ${message}`, async () => {
      const got = await post('/v1/agents/', text);
      assert.equal(got.status, 422);
      assert.equal(got.json.trace_id, '');
      assert.ok(got.json.detail.includes(`'type': 'json_invalid', 'loc': ${loc}`), got.json.detail);
      assert.ok(got.json.detail.includes(message), got.json.detail);
    });

  it('a NUL byte in a text: 422', async () => {
    const got = await postBytes('/v1/blocks/', Buffer.from('{"label":"a","value":"b\0c"}'));
    assert.equal(got.status, 422);
    assert.match(got.json.detail, /Invalid control character/);
  });

  it('no body where one is required: 422', async () => {
    const got = await post('/v1/blocks/');
    assert.equal(got.status, 422);
    assert.ok(got.json.detail.includes("'type': 'missing', 'loc': ('body',)"), got.json.detail);
  });

  for (const [what, hex] of Object.entries({ 'a lone byte': '22ff22', 'an overlong slash': '22c0af22', 'a surrogate': '22eda08022', 'a cut character': '22e28222', 'UTF-16': 'fffe7b007d00' }))
    it(`invalid UTF-8, ${what}: 400`, async () => {
      const got = await postBytes('/v1/agents/', Buffer.from(hex, 'hex'));
      assert.equal(got.status, 400);
      assert.equal(got.json.detail, 'There was an error parsing the body');
    });

  for (const [what, text] of Object.entries({ open: '['.repeat(100_000), closed: '['.repeat(100_000) + ']'.repeat(100_000), objects: '{"a":'.repeat(100_000) }))
    it(`100,000 nested brackets, ${what}: 400`, async () => {
      const got = await post('/v1/agents/', text);
      assert.equal(got.status, 400);
      assert.equal(got.json.detail, 'There was an error parsing the body');
      assert.equal((await post(`/v1/agents/${agent}/messages`, text)).status, 400);
    });
});

describe('values of the wrong kind, at their place', () => {
  // [path, body, loc, type]
  const wrong = [
    ['/v1/agents/', [], "('body',)", 'model_attributes_type'],
    ['/v1/agents/', { name: 5 }, "('body', 'name')", 'string_type'],
    ['/v1/agents/', { name: {} }, "('body', 'name')", 'string_type'],
    ['/v1/agents/', { tags: 'a' }, "('body', 'tags')", 'list_type'],
    ['/v1/agents/', { tags: ['a', 7, 'b'] }, "('body', 'tags', 1)", 'string_type'],
    ['/v1/agents/', { agent_type: 'secret_agent' }, "('body', 'agent_type')", 'enum'],
    ['/v1/agents/', { memory_blocks: {} }, "('body', 'memory_blocks')", 'list_type'],
    ['/v1/agents/', { memory_blocks: [{ label: 'a', value: 'b' }, { label: 'a', value: 7 }] }, "('body', 'memory_blocks', 1, 'value')", 'string_type'],
    ['/v1/agents/', { memory_blocks: [{ label: 'a', value: 'b', limit: 'many' }] }, "('body', 'memory_blocks', 0, 'limit')", 'int_parsing'],
    ['/v1/agents/', { memory_blocks: [null] }, "('body', 'memory_blocks', 0)", 'model_attributes_type'],
    ['/v1/agents/', { metadata: [] }, "('body', 'metadata')", 'dict_type'],
    ['/v1/agents/', { context_window_limit: 1.5 }, "('body', 'context_window_limit')", 'int_from_float'],
    ['/v1/agents/', { context_window_limit: 'x' }, "('body', 'context_window_limit')", 'int_parsing'],
    ['/v1/agents/', { include_base_tools: 'perhaps' }, "('body', 'include_base_tools')", 'bool_parsing'],
    ['/v1/agents/', { llm_config: { model: [] } }, "('body', 'llm_config', 'model')", 'string_type'],
    ['/v1/blocks/', { value: 'v' }, "('body', 'label')", 'missing'],
    ['/v1/blocks/', { label: 'l', value: 'v', limit: [] }, "('body', 'limit')", 'int_type'],
  ];
  for (const [target, body, loc, type] of wrong)
    it(`${target} ${JSON.stringify(body)}: ${type}`, async () => {
      const got = await post(target, body);
      assert.equal(got.status, 422);
      assert.ok(got.json.detail.includes(`'type': '${type}', 'loc': ${loc},`), got.json.detail);
    });

  it('messages of a send, deep inside', async () => {
    const bodies = [
      { messages: 'hello' }, { messages: [5] }, { messages: [{ role: 'user' }] }, { messages: [{ role: 'stranger', content: 'x' }] },
      { messages: [{ role: 'user', content: 5 }] }, { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      { messages: [{ role: 'user', content: [{ type: 'text', text: {} }] }] }, { messages: [{ role: 'user', content: 'x' }], max_steps: 'x' },
      { messages: [{ type: 'approval', approvals: [{ tool_call_id: 5 }] }] },
    ];
    for (const body of bodies) {
      const got = await post(`/v1/agents/${agent}/messages`, body);
      assert.equal(got.status, 422, JSON.stringify(body) + got.text.slice(0, 300));
      assert.match(got.json.detail, /'loc': \('body', /);
    }
    assert.deepEqual((await get(`/v1/agents/${agent}/messages`)).json.filter(m => m.message_type === 'user_message'), []);
  });

  it('queries', async () => {
    for (const [target, loc] of [['/v1/agents/?limit=many', 'limit'], ['/v1/agents/?limit=99999999999999999999', 'limit'], ['/v1/agents/?order=up', 'order'], [`/v1/agents/${agent}/messages?limit=1e9x`, 'limit']]) {
      const got = await get(target);
      assert.equal(got.status, 422, target);
      assert.ok(got.json.detail.includes(`'loc': ('query', '${loc}')`), got.json.detail);
    }
  });
});

describe('ids', () => {
  const kinds = [['/v1/agents/', 'agent'], ['/v1/blocks/', 'block'], ['/v1/tools/', 'tool'], ['/v1/runs/', 'run'], ['/v1/steps/', 'step'], ['/v1/conversations/', 'conv'], ['/v1/identities/', 'identity']];
  for (const [path, prefix] of kinds) {
    it(`${path} unknown: 404 with a sentence`, async () => {
      const got = await get(`${path}${prefix}-${nobody}`);
      assert.equal(got.status, 404, got.text);
      assert.equal(typeof got.json.detail, 'string');
      assert.ok(got.json.detail.includes(`${prefix}-${nobody}`) || /not found/i.test(got.json.detail), got.text);
    });

    it(`${path} of the wrong form: a 4xx that says so`, async () => {
      const upper = `${prefix}-${nobody}`.toUpperCase();
      for (const id of ['x', `${prefix}-`, `${prefix}-123`, upper, `${prefix}-${nobody}0`, `%20${prefix}-${nobody}`, `${prefix}-${nobody}%00`, `${prefix}-${nobody}%0a`, 'é', '%F0%9F%98%80', 'x'.repeat(5000)]) {
        const got = await get(path + id);
        assert.equal(got.status, prefix === 'run' ? 400 : 422, `${id.slice(0, 60)}: ${got.text.slice(0, 200)}`);
        assert.match(got.json.detail, prefix === 'run' ? /^INVALID_ARGUMENT: / : /'loc': \('path', /);
      }
    });
  }

  it('an agent that is not there has no messages, and takes none', async () => {
    const at = `/v1/agents/agent-${nobody}/messages`;
    assert.equal((await get(at)).status, 404);
    const hello = { messages: [{ role: 'user', content: 'x' }] };
    for (const [target, body] of [[at, hello], [`${at}/stream`, hello], [at, { ...hello, streaming: true }]])
      assert.equal((await post(target, body)).status, 404, target);
    assert.equal((await call(server.base, 'DELETE', `/v1/agents/agent-${nobody}`)).status, 404);
    assert.equal((await call(server.base, 'PATCH', `/v1/agents/agent-${nobody}`, {})).status, 404);
  });

  it('paths that are none: 404, unknown methods of known ones: 405', async () => {
    for (const path of ['/', '/v1', '/v1/', '/v2/agents/', '/v1//agents/', '/v1/../etc/passwd', `/v1/agents/${agent}/nothing`])
      assert.equal((await exchange(server.port, request('GET', path))).status, 404, path);
    assert.equal((await call(server.base, 'PUT', `/v1/agents/${agent}`, {})).status, 405);
  });
});

describe('texts and numbers at the edge', () => {
  it('NUL characters are taken out of stored texts', async () => {
    const made = (await post('/v1/blocks/', { label: 'nul', value: 'a\0b', description: '\0' })).json;
    assert.equal(made.value, 'ab');
    assert.equal((await get(`/v1/blocks/${made.id}`)).json.value, 'ab');
    const sent = await post(`/v1/agents/${agent}/messages`, { messages: [{ role: 'user', content: 'nu\0ll' }] });
    assert.equal(sent.status, 200);
    const list = (await get(`/v1/agents/${agent}/messages?limit=1000`)).json;
    assert.equal(list.filter(m => m.content === 'null').length, 1);
  });

  it('lone surrogates are taken out, whole pairs stay', async () => {
    for (const [escaped, kept] of [['a\\ud800b', 'ab'], ['a\\udc00b', 'ab'], ['\\ud800', ''], ['\\ud800\\ud800', ''], ['\\ud800\\n', '\n'], ['\\ud83d\\ude00', '😀'], ['\\\\ud800', '\\ud800'], ['\\uD83D\\uDE00\\uD83D', '😀']]) {
      const got = await post('/v1/blocks/', `{"label":"surrogate","value":"${escaped}"}`);
      assert.equal(got.status, 200, escaped + got.text);
      assert.equal(got.json.value, kept, escaped);
    }
  });

  it('numbers beyond all bounds', async () => {
    for (const number of ['1e999', '-1e999', '1e-999', '9'.repeat(400), '0.' + '1'.repeat(5000), '18446744073709551616', '-9223372036854775809', '1E+2']) {
      const got = await post('/v1/blocks/', `{"label":"n","value":"v","metadata":{"n":${number}}}`);
      assert.equal(got.status, 200, number);
      assert.ok(got.json, `no JSON: ${got.text.slice(0, 200)}`);
      assert.ok((await get(`/v1/blocks/${got.json.id}`)).json, number);
      const limited = await post('/v1/blocks/', `{"label":"n","value":"v","limit":${number}}`);
      assert.ok([200, 422].includes(limited.status), `${number}: ${limited.status}`);
      const stepped = await post(`/v1/agents/${agent}/messages`, `{"input":"x","max_steps":${number}}`);
      assert.ok(stepped.status < 500 && stepped.json, `${number}: ${stepped.text}`);
    }
  });

  it('of members with the same name the last one counts', async () => {
    const got = await post('/v1/blocks/', '{"label":"first","value":"v","label":"last"}');
    assert.equal(got.json.label, 'last');
  });

  it('texts of every control character and of the far planes come back as they were', async () => {
    const value = Array.from({ length: 0x20 }, (_, i) => String.fromCharCode(i)).join('').slice(1) + '\u007f\u2028\ufeff\uffff\u{10ffff}"\\/';
    const made = (await post('/v1/blocks/', { label: 'control', value, metadata: { [value]: value } })).json;
    const read = (await get(`/v1/blocks/${made.id}`)).json;
    assert.equal(read.value, value);
    assert.equal(read.metadata[value], value);
  });
});

describe('bodies that want memory', () => {
  const peakMiB = () => +fs.readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)[1] / 1024;
  const bounded = async (what, body, statuses) => {
    fs.writeFileSync(`/proc/${server.pid}/clear_refs`, '5'); // the peak begins here
    const before = residentMiB();
    const got = await post('/v1/agents/', body);
    assert.ok(statuses.includes(got.status), `${what}: ${got.status}`);
    assert.ok(got.text.length < 1 << 20, `${what}: an answer of ${got.text.length} characters`);
    assert.ok(peakMiB() - before < 512, `${what}: ${before} -> ${peakMiB()} MiB`);
    return got;
  };

  it('a million errors are a bounded list', () => bounded('errors', `{"tags":[${'0,'.repeat(990_000)}0]}`, [422]));
  it('a million errors in structures', () => bounded('structures', `{"memory_blocks":[${'{},'.repeat(990_000)}0]}`, [422]));
  it('an error about a large value does not send it back', () => bounded('echo', `[${'0,'.repeat(990_000)}0]`, [422]));
  it('a large text in the wrong place', () => bounded('text', { memory_blocks: 'x'.repeat(8 << 20) }, [422]));
  it('a million members', () => bounded('members', `{${Array.from({ length: 990_000 }, (_, i) => `"${i}":0`)}}`, [400, 422]));
  for (const [what, piece] of Object.entries({ numbers: '0,', lists: '[0],', objects: '{"":0},', brackets: '[' }))
    it(`more values than a body may have, ${what}: 413`, async () => {
      const got = await bounded(what, `{"tags":[${piece.repeat(Math.floor((31 << 20) / piece.length))}0]}`, [413]);
      assert.equal(got.json.detail, 'Request body has more than 1000000 JSON values');
    });
});

describe('every operation', () => {
  const bodies = ['', '{', '[]', '"text"', '5', 'null', '{}', '[{}]', '['.repeat(1000), '{"messages":[[]]}', '{"id":{"id":[]}}', '\ufeff{}', '{"name":"\\u0000","label":null,"value":[],"tags":{},"metadata":0}'];
  const ids = prefix => [`${prefix}-${nobody}`, 'x', '%00', 'default', '..%2f..%2fetc', '\u00e9'];

  it('answers all of it with an error that is not internal', async () => {
    const { paths } = (await get('/openapi.json')).json;
    const failures = [];
    let sent = 0;
    for (const [path, operations] of Object.entries(paths))
      for (const [method, operation] of Object.entries(operations)) {
        const parameters = (path.match(/\{(\w+)\}/g) ?? []).length;
        const prefixOf = name => operation.parameters?.find(p => p.name === name)?.schema?.pattern?.match(/^\^([a-z_-]+)-\[/)?.[1] ?? 'x';
        for (const choice of parameters ? [0, 1, 2, 3, 4, 5] : [0])
          for (const body of method === 'get' || (method === 'delete' && choice > 0) ? [undefined] : bodies) {
            const target = path.replace(/\{(\w+)\}/g, (_, name) => ids(prefixOf(name))[choice]);
            const got = await call(server.base, method.toUpperCase(), target, body);
            ++sent;
            if ((got.status >= 500 && got.status !== 501) || (got.json === undefined && !got.text.startsWith('data:') && got.status !== 204))
              failures.push(`${method} ${target} ${body?.slice(0, 60)}: ${got.status} ${got.text.slice(0, 200)}`);
          }
      }
    assert.ok(sent > 500, `${sent} requests`);
    assert.deepEqual(failures, []);
  });
});
