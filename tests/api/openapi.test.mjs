// Walks over every operation of the API's description with a valid request, holds each answer against the schema that
// the description has for it, and keeps docs/coverage.md true. UPDATE_COVERAGE=1 writes that file anew.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startModel, lastText } from '../lib/model.mjs';
import { answerComplaints, complaints, operationOf, operations, refusals, sample } from '../lib/openapi.mjs';
import { recipes } from '../lib/recipes.mjs';
import { call, startServer } from '../lib/server.mjs';
import { World } from '../lib/world.mjs';

const table = path.resolve(import.meta.dirname, '../../docs/coverage.md');
const recorded = path.resolve(import.meta.dirname, '../golden/recorded');
let server, model, world;

before(async () => {
  model = await startModel(async body => (lastText(body) === 'wait for ever' ? new Promise(() => {}) : { text: `You said: ${lastText(body)}` }));
  server = await startServer({ env: model.env });
  world = new World(server.base, { model: model.handle, embedding: 'openai/text-embedding-3-small', modelAddress: model.base });
});
after(async () => { await server.stop(); model.stop(); });

const formOf = fields => Object.entries(fields).reduce((form, [key, { name, type, text }]) => { form.set(key, new Blob([text], { type }), name); return form; }, new FormData());

// The requests for an operation, ready to be sent.
async function* requests(operation) {
  const recipe = recipes[operation.name] ?? {};
  const given = typeof recipe === 'function' ? await recipe(world) : recipe;
  const parameters = [...operation.path.matchAll(/\{(\w+)\}/g)].map(m => m[1]);
  const json = operation.body['application/json'];
  for (const { path: values = {}, query = {}, headers = {}, ...rest } of [given].flat()) {
    const filled = {};
    for (const p of parameters) filled[p] = values[p] ?? await (operation.method === 'DELETE' && p === parameters.at(-1) ? world.fresh(p) : world.get(p));
    const required = operation.parameters.filter(p => p.in === 'query' && p.required).map(p => [p.name, 'x']);
    const search = new URLSearchParams(Object.entries({ ...Object.fromEntries(required), ...query }).flatMap(([key, value]) => [value].flat().map(v => [key, v])));
    const target = operation.path.replace(/\{(\w+)\}/g, (_, p) => filled[p]) + (search.size ? `?${search}` : '');
    const body = rest.form ? formOf(rest.form) : rest.body ?? (json && operation.method !== 'GET' ? sample(json.schema) : undefined);
    // A recipe is as good as the description wants it, also before the operation is served.
    if (json && body && !rest.form) assert.deepEqual(complaints(operation.bodySchema, body), [], `the recipe for ${operation.name}`);
    yield { target, body, headers };
  }
}

async function send(method, { target, body, headers }) {
  if (!(body instanceof FormData)) return call(server.base, method, target, body, headers);
  const response = await fetch(server.base + target, { method, body, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

// 'served', 'not yet' (501), or what is wrong.
async function visit(operation) {
  try {
    for await (const request of requests(operation)) {
      const answer = await send(operation.method, request);
      if (answer.status === 501 && refusals[operation.name] !== 501) return 'not yet';
      const wrong = answerComplaints(operation, answer);
      if (wrong.length) return `${JSON.stringify(request.body ?? null).slice(0, 200)} -> ${wrong.join('; ')}`;
    }
    return 'served';
  } catch (e) {
    return String(e.stack).slice(0, 400);
  }
}

function coverage(found) {
  const served = list => list.filter(o => found.get(o.name) === 'served').length;
  const groups = Map.groupBy(operations, o => o.group);
  const lines = [...groups].map(([group, list]) => `## ${group}: ${served(list)} of ${list.length}\n\n${list.map(o => `- [${found.get(o.name) === 'served' ? 'x' : ' '}] \`${o.name}\``).join('\n')}\n`);
  return `# What of the API is served

The description of the API (configs/api/openapi.json) has ${operations.length} operations. ${served(operations)} are served: a valid request is answered as the
description says (${Object.keys(refusals).length} of them are refused always, as the server that is replaced does). Every other one answers 501.
tests/api/openapi.test.mjs finds this out and fails where this file says something else; with UPDATE_COVERAGE=1 it writes
this file.

${lines.join('\n')}`;
}

test('every operation is served as described, or says that it is not served yet', async () => {
  const found = new Map();
  for (const operation of operations) found.set(operation.name, await visit(operation));
  const invalid = [...found].filter(([, what]) => what !== 'served' && what !== 'not yet').map(([name, what]) => `${name}: ${what}`);
  assert.deepEqual(invalid, []);

  const { json: described } = await call(server.base, 'GET', '/openapi.json');
  const promised = Object.entries(described.paths).flatMap(([route, verbs]) => Object.keys(verbs).map(v => `${v.toUpperCase()} ${route}`));
  assert.deepEqual(promised.toSorted(), [...found].filter(([, what]) => what === 'served').map(([name]) => name).toSorted(), 'GET /openapi.json describes what is served');

  if (process.env.UPDATE_COVERAGE) fs.writeFileSync(table, coverage(found));
  assert.equal(fs.existsSync(table) && fs.readFileSync(table, 'utf8'), coverage(found), 'docs/coverage.md is out of date: run this test with UPDATE_COVERAGE=1');
});

test('every recipe is for an operation that there is', () => {
  const names = new Set(operations.map(o => o.name));
  assert.deepEqual(Object.keys(recipes).filter(name => !names.has(name)), []);
});

test('an answer that is not as described is found', () => {
  const operation = operations.find(o => o.name === 'GET /v1/blocks/{block_id}');
  const answer = json => ({ status: 200, headers: new Map([['content-type', 'application/json']]), text: JSON.stringify(json), json });
  assert.deepEqual(answerComplaints(operation, answer({ id: 'block-00000000-0000-4000-8000-000000000000', value: 'x' })), []);
  assert.equal(answerComplaints(operation, answer({ id: 'block-00000000-0000-4000-8000-000000000000' })).length, 1);
  assert.equal(answerComplaints(operation, answer({ id: 7, value: 'x' })).length, 1);
  assert.equal(answerComplaints(operation, { ...answer({ detail: 'no' }), status: 404 }).length, 1);
});

test('the recordings keep to the description, but for the named exceptions', () => {
  const wrong = new Map();
  for (const file of fs.readdirSync(recorded)) {
    for (const { request, response } of JSON.parse(fs.readFileSync(path.join(recorded, file))).steps) {
      const operation = operationOf(request.method ?? 'GET', request.path);
      if (!operation || !(response?.status >= 200 && response.status < 300)) continue;
      // Recordings keep of long values, vectors among them, only a note.
      const json = response.json === undefined ? undefined : JSON.parse(JSON.stringify(response.json, (key, value) => (key === 'embedding' && String(value).startsWith('<') ? [] : value)));
      const text = (response.events ?? []).filter(e => e.data !== '[DONE]').map(e => `data: ${JSON.stringify(e.data)}`).join('\n\n') || 'data: [DONE]';
      for (const complaint of answerComplaints(operation, { status: response.status, headers: new Map([['content-type', response.type]]), text, json })) wrong.set(`${operation.name}: ${complaint}`, file);
    }
  }
  assert.deepEqual([...wrong], []);
});
