/** The contract suite is worth something only if bindings that break the contract fail it. */
import { expect, test } from 'vitest';
import { memory, memoryStore } from '../../src/bindings/memory/index.ts';
import type { Binding, InvocationContext, Operation, Sink } from '../../src/index.ts';
import { CorrectableError } from '../../src/index.ts';
import { get, put } from '../../src/operations/index.ts';
import { ConformanceError } from '../../src/testing/binding-conformance.ts';
import type { ConformanceSubject, OpenedBinding } from '../../src/testing/index.ts';
import { collectFailure, collectFailures } from './collect-failures.ts';

type Submit = (
  operation: Operation,
  levels: readonly string[],
  sink: Sink,
  context: InvocationContext,
) => void;

/** A memory binding with one method replaced by a faulty one. */
function faulty(
  fault: (sound: Binding<readonly ['weak', 'strong']>) => Partial<Binding>,
): ConformanceSubject {
  const createBinding = async (): Promise<OpenedBinding> => {
    const store = memoryStore();
    const sound = memory({ store, delaysMs: { weak: 0, strong: 1 } });
    const faults = fault(sound);
    const binding = new Proxy(sound, {
      get: (target, key) => {
        const own: unknown = Reflect.get(faults, key) ?? Reflect.get(target, key, target);
        return typeof own === 'function' ? own.bind(target) : own;
      },
    });
    return { binding, secondBinding: async () => memory({ store }) };
  };
  return {
    name: 'faulty',
    timeoutMs: 500,
    createBinding,
    write: put('k', 1),
    read: get('k'),
    expected: 1,
  };
}

const submitBy =
  (wrap: (submit: Submit) => Submit) =>
  (sound: Binding<readonly ['weak', 'strong']>): Partial<Binding> => ({
    submitOperation: wrap(sound.submitOperation.bind(sound) as Submit),
  });

/**
 * Invokes writes at several levels: first the preliminary view, and only then the write, whose
 * result is not delivered.
 */
const guessing =
  (guess: (sink: Sink) => void) =>
  (sound: Binding<readonly ['weak', 'strong']>): Partial<Binding> =>
    submitBy((submit) => (operation, levels, sink, context) => {
      if (operation.access === 'read' || levels.includes('strong'))
        return submit(operation, levels, sink, context);
      guess(sink);
      const silent: Sink = { view: () => 0, confirm() {}, fail() {} };
      return submit(operation, ['strong'], silent, context);
    })(sound);

/** Asks one test of the suite, which has to fail. */
async function expectCaught(subject: ConformanceSubject, name: string): Promise<void> {
  expect(await collectFailure(subject, name)).toBeInstanceOf(ConformanceError);
}

test('contract suite: a sound binding → no failure', async () => {
  expect(await collectFailures(faulty(() => ({})))).toEqual([]);
});

test('contract suite: a write fails because its guess does → caught', async () => {
  const fault = faulty(
    guessing((sink) => sink.fail(new CorrectableError('UNAVAILABLE', 'no guess'), 'weak')),
  );
  const subject = { ...fault, weakLevelFails: { fail: fault.createBinding } };
  await expectCaught(
    subject,
    'write: weaker levels fail → the final answers, for any requested levels',
  );
  await expectCaught(
    subject,
    'write: one level requested, many at once → one final view each, at it or above if there is such a level',
  );
});

test('contract suite: levels that change → caught', async () => {
  let calls = 0;
  const subject = faulty(() => ({
    consistencyLevels: () => (calls++ % 2 === 0 ? ['weak', 'strong'] : ['strong']),
  }));
  await expectCaught(subject, 'levels: asked twice → one list of different names');
});

test('contract suite: every view twice → caught', async () => {
  const subject = faulty(
    submitBy((submit) => (operation, levels, sink, context) => {
      const twice: Sink = {
        view: (value, level, details) => {
          sink.view(value, level, details);
          return sink.view(value, level, details);
        },
        confirm: (level, seq) => sink.confirm(level, seq),
        fail: (error, level) => sink.fail(error, level),
      };
      submit(operation, levels, twice, context);
    }),
  );
  await expectCaught(subject, 'read: all levels → ordered views, one final at the strongest');
});

test('contract suite: a confirmation of a view that was never delivered → caught', async () => {
  const subject = faulty(
    submitBy(() => (_operation, levels, sink) => sink.confirm(levels.at(-1)!, 0)),
  );
  await expectCaught(
    subject,
    'sink: every call → a requested level or above, confirms only what was delivered',
  );
});

test('contract suite: reports at closing that a write was not done, and it was → caught', async () => {
  const subject = faulty(
    submitBy((submit) => (operation, levels, sink, context) => {
      const lying: Sink = {
        view: (value, level, details) => sink.view(value, level, details),
        confirm: (level, seq) => sink.confirm(level, seq),
        fail: () => sink.fail(new CorrectableError('UNAVAILABLE', 'not done')),
      };
      submit(operation, levels, lying, context);
    }),
  );
  await expectCaught(subject, 'close: a write in flight → done, UNKNOWN, or certainly not done');
});

test('contract suite: one client of a shared binding closes it for all → caught', async () => {
  const subject = faulty((sound) => ({ openHandle: () => sound }));
  await expectCaught(
    subject,
    'close: one client of several on a shared binding → the others go on',
  );
});

test('contract suite: it takes any operation → caught', async () => {
  await expectCaught(
    faulty(() => ({ supports: () => true })),
    'operation: unknown → UNSUPPORTED',
  );
});

test('contract suite: the strongest level fails, and takes a weaker view with it → caught', async () => {
  const submitting = (hasListener: boolean): ConformanceSubject =>
    faulty(
      submitBy((submit) => (operation, _, sink, context) => {
        const fail = (): void =>
          sink.fail(new CorrectableError('UNAVAILABLE', 'offline'), 'strong');
        if (!hasListener) fail();
        const heard: Sink = {
          view(...view) {
            const seq = sink.view(...view);
            fail();
            return seq;
          },
          confirm() {},
          fail() {},
        };
        submit(operation, ['weak'], heard, context);
      }),
    );
  const name = 'read: the strongest level fails at once → weaker views in flight, then the failure';
  const subject = (hasListener: boolean): ConformanceSubject => ({
    ...faulty(() => ({})),
    strongLevelFails: submitting(hasListener).createBinding,
  });
  await expectCaught(subject(false), name);
  expect(await collectFailures(subject(true))).toEqual([]);
});
