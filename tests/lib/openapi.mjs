// The API's own description (configs/api/openapi.json): its operations, whether an answer is what it promises, and the
// smallest request body that it allows.
import fs from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';

const file = path.resolve(import.meta.dirname, '../../configs/api/openapi.json');

// `nullable` is a word of older OpenAPI; beside no type it says nothing, and the validator refuses it there.
function modern(schema) {
  if (Array.isArray(schema)) return schema.map(modern);
  if (!schema || typeof schema !== 'object') return schema;
  const { nullable, ...rest } = schema;
  const out = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, modern(value)]));
  return nullable === true && out.type !== undefined ? { anyOf: [out, { type: 'null' }] } : out;
}

export const document = modern(JSON.parse(fs.readFileSync(file, 'utf8')));
const { schemas } = document.components;

// Where the recorded server (tests/golden/recorded) does not keep to its own description, clients have what it answers.
// Each exception with its reason; openapi.test.mjs holds the recordings against the description with these alone.
export const exceptions = [
  { why: 'the organization and the user of a record are shown, though the description leaves them out',
    apply() { for (const schema of Object.values(schemas)) if (schema.additionalProperties === false) Object.assign(schema.properties, { organization_id: {}, user_id: {} }); } },
  { why: 'an export is declared to be a text and is an object',
    apply() { for (const verb of ['get', 'post']) document.paths['/v1/agents/{agent_id}/export'][verb].responses['200'].content['application/json'].schema = { type: ['object', 'string'] }; } },
  { why: 'the error that ends a stream has no run where none was made, and nulls for what it does not know',
    apply() { Object.assign(schemas.LettaErrorMessage, { required: ['message_type', 'error_type', 'message'] }); for (const key of ['run_id', 'detail', 'seq_id']) schemas.LettaErrorMessage.properties[key] = {}; } },
];
for (const exception of exceptions) exception.apply();
// Messages are told apart by their type, so that it may not be missing, though the description has a default for it.
for (const schema of Object.values(schemas)) if (schema.properties?.message_type?.const) schema.required = [...new Set([...(schema.required ?? []), 'message_type'])];

// Operations whose one answer is a refusal, there as here: they are served.
export const refusals = {
  'PATCH /v1/agents/{agent_id}/messages/{message_id}': 405, // a message may be shared by conversations
  'PATCH /v1/groups/{group_id}/messages/{message_id}': 405, // as above; there it was an error of the server
  'POST /v1/voice-beta/{agent_id}/chat/completions': 410, // as all others are talked to
  'POST /v1/tools/search': 400, // it needs a vector store that neither has
  'GET /v1/runs/{run_id}/trace': 501, // traces are kept by a store that neither has
};

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/; // the zone may be missing
const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false, formats: { 'date-time': moment, uri: true, uuid: true, binary: true, email: true, byte: true, url: true } });
ajv.addSchema(document, 'api');
const pointer = parts => 'api#/' + parts.map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');

// All operations: {name, method, path, id, body: {type: {schema}}, bodySchema: pointer to that of JSON,
// successes: {status: {type: pointer}}}.
export const operations = Object.entries(document.paths).flatMap(([route, methods]) => Object.entries(methods).map(([verb, o]) => {
  const successes = {};
  for (const [status, response] of Object.entries(o.responses).filter(([s]) => s.startsWith('2'))) {
    successes[status] = {};
    for (const [type, content] of Object.entries(response.content ?? {})) if (content.schema) successes[status][type] = pointer(['paths', route, verb, 'responses', status, 'content', type, 'schema']);
  }
  const method = verb.toUpperCase();
  return { name: `${method} ${route}`, method, path: route, group: o.tags?.[0] ?? route.split('/')[2], parameters: o.parameters ?? [], body: o.requestBody?.content ?? {}, bodySchema: pointer(['paths', route, verb, 'requestBody', 'content', 'application/json', 'schema']), successes };
}));

// What is wrong with a value, or nothing.
export function complaints(where, value) {
  const validate = ajv.getSchema(where) ?? ajv.compile({ $ref: where });
  if (validate(value)) return [];
  return validate.errors.slice(0, 3).map(e => `${e.instancePath || '/'} ${e.message}${e.params?.additionalProperty ?? ''}`);
}

export const component = name => pointer(['components', 'schemas', name]);
const members = schemas.LettaStreamingResponse.discriminator.mapping;

// What a `text/event-stream` carries, as objects.
export const frames = text => text.split('\n\n').filter(f => f.startsWith('data: ') && f !== 'data: [DONE]').map(f => JSON.parse(f.slice(6)));

// An event of a turn is one of the messages. Those of a chat completion (OpenAI's) and of a connection to a tool server
// are not in the description.
function frameComplaints(frame) {
  if (frame.event && !frame.message_type) return [];
  if (frame.object === 'chat.completion.chunk') return frame.choices ? [] : ['a chunk without choices'];
  const member = members[frame.message_type]?.split('/').at(-1);
  return member
    ? complaints(component(member), frame).map(c => `event ${frame.message_type}: ${c}`)
    : [`an event of no known type: ${JSON.stringify(frame).slice(0, 200)}`];
}

function streamComplaints(text) {
  if (!text.includes('data: ')) return ['a stream without an event'];
  return frames(text).flatMap(frameComplaints).slice(0, 3);
}

// What is wrong with an answer to an operation: {status, headers, text, json}.
export function answerComplaints(operation, answer) {
  if (answer.status === refusals[operation.name]) return [];
  const success = operation.successes[answer.status];
  if (!success) return [`${answer.status} ${answer.text.slice(0, 200)}`];
  const type = (answer.headers.get('content-type') ?? '').split(';')[0];
  if (type === 'text/event-stream') return streamComplaints(answer.text);
  const where = success['application/json'];
  if (!where) return [];
  if (answer.json === undefined) return answer.status === 204 ? [] : [`not JSON: ${answer.text.slice(0, 200)}`];
  return complaints(where, answer.json);
}

// -- the smallest request -----------------------------------------------------------------------------

const resolve = schema => (schema?.$ref ? resolve(schema.$ref.slice(2).split('/').reduce((at, part) => at[part.replaceAll('~1', '/').replaceAll('~0', '~')], document)) : schema);

// A value of a schema: what is required and nothing else.
export function sample(given) {
  const schema = resolve(given) ?? {};
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const choice = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choice) return sample(choice[0]);
  const type = [schema.type].flat()[0];
  if (type === 'object') return Object.fromEntries((schema.required ?? []).map(key => [key, sample(schema.properties?.[key])]));
  if (type === 'array') return schema.minItems ? [sample(schema.items)] : [];
  if (type === 'string') return schema.format === 'date-time' ? '2026-01-01T00:00:00Z' : 'x'.repeat(Math.max(1, schema.minLength ?? 0));
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  return type === 'boolean' ? false : null;
}

// The operation that a request is for; words go before parameters.
export function operationOf(method, target) {
  const parts = target.split('?')[0].replace(/\/$/, '').split('/');
  const fits = operations.filter(o => {
    const pattern = o.path.replace(/\/$/, '').split('/');
    return o.method === method && pattern.length === parts.length && pattern.every((p, i) => p.startsWith('{') || p === parts[i]);
  });
  return fits.sort((a, b) => (a.path.match(/\{/g)?.length ?? 0) - (b.path.match(/\{/g)?.length ?? 0))[0];
}
