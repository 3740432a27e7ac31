/** Scenarios of `useOperation`. */
import { createElement as h, type ReactNode } from 'react';
import { CorrectableError, type Correctable, type Operation } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import {
  useCorrectable,
  useOperation,
  type UseOperationOptions,
} from '../../../src/react/index.ts';
import type { ScriptedCall } from '../../../src/testing/scripted-binding.ts';
import { transaction } from '../../../src/transactions/index.ts';
import type { Scenario } from './reading.ts';
import { format, idle, same, Shown, until, useLog, type Stage, type StageLevels } from './stage.ts';

const LAMP = get<boolean>('lamp');
const COUNT = get<number>('count');
const LIST = get<string[]>('list');

/** Gives the `run` of a `useOperation` to the scenario, and shows the state of the latest run. */
interface Writer {
  run: (value: unknown) => unknown;
  readonly node: ReactNode;
}

function createWriter(
  stage: Stage,
  key: string,
  affects?: UseOperationOptions<never, [value: unknown]>['affects'],
  build: (value: unknown) => Built = (value) => put(key, value),
): Writer {
  const Write = (): ReactNode => {
    const [run, { view, error, pending }] = useOperation(build, { affects });
    writer.run = run;
    const text = `${error?.code ?? format(view)}${pending ? ' pending' : ''}`;
    useLog(stage, `write ${text}`);
    return null;
  };
  const writer: Writer = { run: () => {}, node: h(Write, { key: 'write' }) };
  return writer;
}

type Built = Operation | Correctable<unknown, StageLevels>;

/** Opens a page with a read that has its final view, and a writer. */
async function open(
  stage: Stage,
  read: typeof LAMP | typeof COUNT | typeof LIST,
  value: unknown,
  writer: Writer,
): Promise<void> {
  stage.render([writer.node, h(Shown, { key: 'read', stage, operation: read })]);
  (await stage.binding.next()).view(value, 'strong');
  await stage.shows(`${JSON.stringify(value)} strong`);
  stage.log.length = 0;
}

async function next(stage: Stage, name: 'get' | 'put'): Promise<ScriptedCall> {
  const call = await stage.binding.next();
  same(call.operation.name, name);
  return call;
}

/** What the page has shown of the read, one after the other. */
function shownIn({ log }: Stage): string[] {
  return log
    .filter((line) => !line.startsWith('write'))
    .filter((line, at, lines) => line !== lines[at - 1]);
}

const turn = (stage: Stage, isOn: boolean | null): Writer =>
  createWriter(stage, 'lamp', (affect, value) => affect(LAMP, () => (isOn ?? value) as boolean));

export const writing: Readonly<Record<string, Scenario>> = {
  async 'a builder that begins a transaction → its views, and the reads that it names are refreshed'(
    stage,
  ) {
    const begin = () => transaction(stage.client, (tx) => (tx.put('lamp', true), 'switched'));
    const writer = createWriter(stage, 'x', (affect) => affect(LAMP), begin);
    await open(stage, LAMP, false, writer);
    writer.run(null);
    const call = await stage.binding.next();
    same(call.operation.name, 'commit');
    call.view({ committed: true, changed: [] }, 'weak');
    await until(() => stage.log.includes('write "switched" weak… pending'));
    call.view({ committed: true, changed: [] }, 'strong');
    (await next(stage, 'get')).view(true, 'strong');
    await stage.shows('true strong');
    await until(() => stage.log.includes('write "switched" strong'));
  },

  async 'a write → its state has the preliminary view, then the final one'(stage) {
    const writer = createWriter(stage, 'x');
    stage.render(writer.node);
    await until(() => stage.log.length > 0);
    writer.run(1);
    const call = await next(stage, 'put');
    await until(() => stage.log.length === 2);
    call.view(undefined, 'weak');
    await until(() => stage.log.length === 3);
    call.view(undefined, 'strong');
    await until(() => stage.log.length === 4);
    same(stage.log, [
      'write nothing',
      'write nothing pending',
      'write undefined weak… pending',
      'write undefined strong',
    ]);
  },

  async 'a write fails → what it had changed on the page is undone'(stage) {
    const writer = turn(stage, null);
    await open(stage, LAMP, false, writer);
    writer.run(true);
    const call = await next(stage, 'put');
    await stage.shows('true optimistic…');
    call.fail(new CorrectableError('CONFLICT', 'another write was first'));
    await stage.shows('false strong');
    (await next(stage, 'get')).view(false, 'strong');
    await idle();
    same(shownIn(stage), ['true optimistic…', 'false strong']);
    // React renders this state after that of the read, on a busy page much later.
    await until(() => stage.log.includes('write CONFLICT'));
  },

  async 'a switch pressed faster than the answers arrive → never flickers back'(stage) {
    const writer = turn(stage, null);
    await open(stage, LAMP, false, writer);
    writer.run(true);
    const on = await next(stage, 'put');
    await stage.shows('true optimistic…');
    writer.run(false);
    const off = await next(stage, 'put');
    await stage.shows('false optimistic…');
    on.view(undefined, 'strong');
    await idle();
    same(stage.binding.calls.length, 3);
    off.view(undefined, 'strong');
    const read = await next(stage, 'get');
    same(read.levels, ['strong']);
    await idle();
    await stage.shows('false optimistic…');
    read.view(false, 'strong');
    await stage.shows('false strong');
    same(shownIn(stage), ['true optimistic…', 'false optimistic…', 'false strong']);
  },

  async 'writes that add → each counts once, whatever the answers have seen'(stage) {
    const writer = createWriter(stage, 'count', (affect) =>
      affect(COUNT, (count = 0) => count + 1),
    );
    await open(stage, COUNT, 1, writer);
    writer.run(2);
    const first = await next(stage, 'put');
    await stage.shows('2 optimistic…');
    first.view(undefined, 'strong');
    const late = await next(stage, 'get');
    writer.run(3);
    const second = await next(stage, 'put');
    await stage.shows('3 optimistic…');
    late.view(3, 'strong');
    await idle();
    await stage.shows('3 optimistic…');
    second.view(undefined, 'strong');
    (await next(stage, 'get')).view(3, 'strong');
    await stage.shows('3 strong');
    same(shownIn(stage), ['2 optimistic…', '3 optimistic…', '3 strong']);
  },

  async 'a write while the first view is on its way → is shown on top of that view'(stage) {
    const writer = turn(stage, null);
    stage.render([writer.node, h(Shown, { key: 'read', stage, operation: LAMP })]);
    const read = await next(stage, 'get');
    await until(() => stage.log.length > 0 || stage.text() === 'loading');
    stage.render([writer.node]);
    await until(() => stage.log.includes('write nothing'));
    writer.run(true);
    const write = await next(stage, 'put');
    stage.render([writer.node, h(Shown, { key: 'read', stage, operation: LAMP })]);
    read.view(false, 'weak');
    await stage.shows('true optimistic…');
    await until(() => read.context.signal.aborted);
    write.view(undefined, 'strong');
    (await next(stage, 'get')).view(true, 'strong');
    await stage.shows('true strong');
  },

  async 'a write with an unknown outcome → stays on the page until a read knows'(stage) {
    const writer = turn(stage, null);
    await open(stage, LAMP, false, writer);
    writer.run(true);
    (await next(stage, 'put')).fail(new CorrectableError('UNKNOWN', 'lost'));
    const read = await next(stage, 'get');
    await stage.shows('true optimistic…');
    read.view(false, 'strong');
    await stage.shows('false strong');
  },

  async 'an unknown outcome, and the read after it fails → the guess stays with the error, until a refresh'(
    stage,
  ) {
    const writer = turn(stage, null);
    let refresh = (): void => {};
    const Lamp = (): ReactNode => {
      const { view, error, pending, ...result } = useCorrectable(LAMP);
      ({ refresh } = result);
      return `${format(view)}${pending ? ' pending' : ''} ${error?.code ?? 'no error'}`;
    };
    stage.render([writer.node, h(Lamp, { key: 'read' })]);
    (await stage.binding.next()).view(false, 'strong');
    await stage.shows('false strong no error');
    writer.run(true);
    (await next(stage, 'put')).fail(new CorrectableError('UNKNOWN', 'lost'));
    const read = await next(stage, 'get');
    await stage.shows('true optimistic… pending no error');
    read.fail(new CorrectableError('UNAVAILABLE', 'down'));
    await stage.shows('true optimistic… UNAVAILABLE');
    refresh();
    const again = await next(stage, 'get');
    await stage.shows('true optimistic… pending UNAVAILABLE');
    again.view(false, 'strong');
    await stage.shows('false strong no error');
  },

  async 'a read after a write → never shows the state before it'(stage) {
    const writer = createWriter(stage, 'lamp');
    const show = (isShown: boolean): void =>
      stage.render([writer.node, isShown && h(Shown, { key: 'read', stage, operation: LAMP })]);
    await open(stage, LAMP, false, writer);
    show(false);
    await stage.shows('');
    await idle();
    writer.run(true);
    (await next(stage, 'put')).view(undefined, 'strong');
    await until(() => stage.log.includes('write undefined strong'));
    show(true);
    const read = await next(stage, 'get');
    await stage.shows('loading');
    same(read.levels, ['strong']);
    read.view(true, 'strong');
    await stage.shows('true strong');
  },

  async 'a read in flight when a write has its final → its views from before are not shown'(stage) {
    const writer = createWriter(stage, 'lamp');
    await open(stage, LAMP, false, writer);
    stage.render([
      writer.node,
      h(Shown, { key: 'other', stage, operation: LAMP, until: 'strong' }),
    ]);
    await stage.shows('false strong');
    writer.run(true);
    (await next(stage, 'put')).view(undefined, 'strong');
    const before = await next(stage, 'get');
    writer.run(true);
    (await next(stage, 'put')).view(undefined, 'strong');
    const after = await next(stage, 'get');
    before.view(false, 'strong');
    after.view(true, 'strong');
    await stage.shows('true strong');
  },

  async 'a list after a write → stays until its next view, and never empties'(stage) {
    const writer = createWriter(stage, 'list');
    await open(stage, LIST, ['a'], writer);
    writer.run(['a', 'b']);
    (await next(stage, 'put')).view(undefined, 'strong');
    const read = await next(stage, 'get');
    await idle();
    await stage.shows('["a"] strong');
    read.view(['a', 'b'], 'strong');
    await stage.shows('["a","b"] strong');
    same(shownIn(stage), ['["a","b"] strong']);
  },

  async 'a read of another key that the write affects → asks again, without a guess'(stage) {
    const writer = createWriter(stage, 'other', (affect) => affect(LIST));
    await open(stage, LIST, ['a'], writer);
    writer.run('b');
    const write = await next(stage, 'put');
    await stage.shows('["a"] optimistic…');
    write.view(undefined, 'strong');
    (await next(stage, 'get')).view(['a', 'b'], 'strong');
    await stage.shows('["a","b"] strong');
  },

  async 'until: strong → shows nothing that is only guessed'(stage) {
    const writer = turn(stage, null);
    stage.render([writer.node, h(Shown, { key: 'read', stage, operation: LAMP, until: 'strong' })]);
    (await next(stage, 'get')).view(false, 'strong');
    await stage.shows('false strong');
    writer.run(true);
    (await next(stage, 'put')).view(undefined, 'strong');
    (await next(stage, 'get')).view(true, 'strong');
    await stage.shows('true strong');
    same(shownIn(stage), ['false strong', 'true strong']);
  },

  async 'the component unmounts → its write goes on'(stage) {
    const writer = createWriter(stage, 'x');
    stage.render(writer.node);
    await until(() => stage.log.length > 0);
    writer.run(1);
    const call = await next(stage, 'put');
    stage.render(null);
    await idle();
    same(call.context.signal.aborted, false);
  },

  async 'a value is used, not its view → a component renders only for the value'(stage) {
    let renders = 0;
    const writer = turn(stage, false);
    const Value = (): ReactNode => {
      renders++;
      return String(useCorrectable(LAMP).value);
    };
    stage.render([writer.node, h(Value, { key: 'read' })]);
    (await next(stage, 'get')).view(false, 'strong');
    await stage.shows('false');
    const before = renders;
    writer.run(false);
    (await next(stage, 'put')).view(undefined, 'strong');
    (await next(stage, 'get')).view(false, 'strong');
    await idle();
    same(renders, before);
  },

  async 'a final view after a write → confirms or corrects what was shown, not the value before the write'(
    stage,
  ) {
    const writer = turn(stage, null);
    const State = (): ReactNode => {
      const { value, final, confirmed, corrected } = useCorrectable(LAMP);
      const outcome = confirmed ? 'confirmed' : corrected ? 'corrected' : 'only';
      return `${value} ${final ? outcome : 'guess'}`;
    };
    stage.render([writer.node, h(State, { key: 'read' })]);
    (await next(stage, 'get')).view(false, 'strong');
    await stage.shows('false only');
    for (const [answer, outcome] of [
      [true, 'true confirmed'],
      [false, 'false corrected'],
    ] as const) {
      writer.run(true);
      const write = await next(stage, 'put');
      await stage.shows('true guess');
      write.view(undefined, 'strong');
      (await next(stage, 'get')).view(answer, 'strong');
      await stage.shows(outcome);
    }
  },
};
