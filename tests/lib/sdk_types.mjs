// Does an answer have the type that the TypeScript SDK declares for it? The compiler knows: the answers are written
// down as literals, each where its declared type is demanded, and checked as a program.
import path from 'node:path';
import ts from 'typescript';

const head = `
import type { Letta } from '@letta-ai/letta-client';
import type { Stream } from '@letta-ai/letta-client/core/streaming';
type Result<F> = F extends (...args: any[]) => infer P ? Awaited<P> : never;
type Answer<F> = Exclude<Result<F>, Stream<any>>;
type Item<F> = Result<F> extends { items: (infer I)[] } ? I : never;
type Event<F> = Result<F> extends infer R ? (R extends Stream<infer E> ? E : never) : never;
declare function is<T>(): <V extends T>(value: V) => void; // V: fields that the SDK does not know are allowed
`;

export class SdkTypes {
  #notes = [];

  // kind: Answer, Item (of a page) or Event (of a stream).
  note(method, kind, value) { this.#notes.push({ method, kind, value }); }

  get methods() { return [...new Set(this.#notes.map(n => n.method))]; }

  // The client itself, whose every answer is noted. A stream is read to its end and comes as the list of its events.
  watch(resource, prefix = '') {
    return new Proxy(resource, { get: (target, name) => {
      const value = target[name], full = prefix + String(name);
      if (typeof value === 'function') return async (...args) => this.#seen(full, await value.apply(target, args));
      return value && typeof value === 'object' ? this.watch(value, `${full}.`) : value;
    } });
  }

  async #seen(method, answer) {
    if (Array.isArray(answer?.items)) answer.items.forEach(item => this.note(method, 'Item', item));
    else if (answer?.controller) {
      const events = [];
      for await (const event of answer) { this.note(method, 'Event', event); events.push(event); }
      return events;
    } else this.note(method, 'Answer', answer);
    return answer;
  }

  // What the compiler objects to, one text an answer.
  complaints() {
    const lines = this.#notes.map(({ method, kind, value }) => `is<${kind}<Letta${method.split('.').map(part => `['${part}']`).join('')}>>()(${JSON.stringify(value)});`);
    const before = head.split('\n').length - 1;
    const diagnostics = compile(head + lines.join('\n'));
    return diagnostics.map(d => {
      const note = d.file && this.#notes[d.file.getLineAndCharacterOfPosition(d.start).line - before];
      return `${note ? `${note.method}: ${JSON.stringify(note.value).slice(0, 300)}` : ''}\n${ts.flattenDiagnosticMessageText(d.messageText, '\n').slice(-1500)}`;
    });
  }
}

function compile(source) {
  const file = path.resolve(import.meta.dirname, '../answers.ts'); // exists in memory alone; beside node_modules
  const options = { noEmit: true, strict: true, skipLibCheck: true, types: ['node'], target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.getCurrentDirectory = () => path.dirname(file); // wherever the tests were started
  host.fileExists = name => name === file || fileExists(name);
  host.readFile = name => (name === file ? source : readFile(name));
  host.getSourceFile = (name, ...rest) => (name === file ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest));
  return ts.getPreEmitDiagnostics(ts.createProgram([file], options, host));
}
