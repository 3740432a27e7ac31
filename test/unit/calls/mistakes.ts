/**
 * The mistakes that people make, by the entry and the function that they call: arguments forgotten, swapped or of another
 * kind, options misspelt. `whole` are those that the right call shows; `parts`, those that are about one option.
 */
import { createClient, type Policy } from '../../../src/index.ts';
import { callsOfBindings } from './mistakes-bindings.ts';
import { callsOfEngines } from './mistakes-engines.ts';
import { callsOfServer } from './mistakes-server.ts';
import { binding, contract, method, type Mistakes } from './untyped.ts';

const two = ['weak', 'strong'];

export const mistakes: Readonly<Record<string, Mistakes>> = {
  '.': {
    createClient: {
      shows: 'createClient(memory())',
      whole: [
        ['no binding', 'binding', (f) => f()],
        ['an address', 'binding', (f) => f('ws://127.0.0.1:7420')],
        ['options without a binding', 'binding', (f) => f({ timeoutMs: 5 })],
        ['a client in the place of its binding', 'binding', (f) => f(f(binding()))],
        ['the function that makes the binding', 'binding', (f) => f(binding)],
        ['null', 'binding', (f) => f(null)],
      ],
      parts: [
        ['a number for the options', 'options', (f) => f(binding(), 500)],
        ['null for the options', 'options', (f) => f(binding(), null)],
        ['a text for the time', 'timeoutMs', (f) => f(binding(), { timeoutMs: '5' })],
        ['retries without a policy', 'retry', (f) => f(binding(), { retry: { attempts: 3 } })],
        ['shared reads without a policy', 'shareReads', (f) => f(binding(), { shareReads: true })],
        ['invoke: retries without a policy', 'retry', (f) => method(f(binding()), 'invoke')(read, { retry: 3 })],
        ['invoke: no operation', 'operation', (f) => method(f(binding()), 'invoke')()],
        ['invoke: the name of an operation', 'operation', (f) => method(f(binding()), 'invoke')('get', 'k')],
        ['invoke: a builder that was not called', 'operation', (f) => method(f(binding()), 'invoke')(contract().get)],
        ['invoke: a list of levels', 'options', (f) => method(f(binding()), 'invoke')(read, ['strong'])],
        ['invoke: a level', 'options', (f) => method(f(binding()), 'invoke')(read, 'strong')],
        ['invoke: null', 'options', (f) => method(f(binding()), 'invoke')(read, null)],
        ['invoke: one level without a list', 'levels', (f) => method(f(binding()), 'invoke')(read, { levels: 'weak' })],
        ['invoke: a session of nobody', 'session', (f) => method(f(binding()), 'invoke')(read, { session: {} })],
        ['invoke: half a time', 'timeoutMs', (f) => method(f(binding()), 'invoke')(read, { timeoutMs: -1 })],
        ['invokeWeak: a number', 'options', (f) => method(f(binding()), 'invokeWeak')(read, 500)],
        ['invokeStrong: a list', 'options', (f) => method(f(binding()), 'invokeStrong')(read, ['strong'])],
        ['session: a token', 'options', (f) => method(f(binding()), 'session')('token')],
        ['session: tokens without their name', 'options', (f) => method(f(binding()), 'session')(['token'])],
        ['session: null', 'options', (f) => method(f(binding()), 'session')(null)],
      ],
    },
    all: {
      shows: 'all([a, b])',
      whole: [
        ['no parts', 'parts', (f) => f()],
        [
          'parts without a list',
          'parts',
          (f, entry) => f(method(entry, 'correctableOf')(1), method(entry, 'correctableOf')(2)),
        ],
        ['a promise of parts', 'parts', (f) => f(Promise.all([]))],
      ],
      parts: [
        ['a promise', 'parts[0]', (f) => f([Promise.resolve(1)])],
        ['a promise by name', 'parts.user', (f) => f({ user: Promise.resolve(1) })],
      ],
    },
    correctable: {
      shows: 'give',
      whole: [
        ['nothing', 'levels', (f) => f()],
        ['levels without a list', 'levels', (f) => f('weak', () => {})],
        ['arguments swapped', 'levels', (f) => f(() => {}, two)],
      ],
      parts: [
        ['options without an executor', 'executor', (f) => f(two, undefined, {})],
        ['no executor', 'executor', (f) => (f(two) as typeof f)()],
        ['withSink: a number for the options', 'options', (f) => method(f(two), 'withSink')(500)],
        ['a promise for the executor', 'executor', (f) => f(two, Promise.resolve(1))],
        ['a number for the options', 'options', (f) => f(two, () => {}, 500)],
        ['null for the options', 'options', (f) => f(two, () => {}, null)],
        ['a text for the time', 'timeoutMs', (f) => f(two, () => {}, { timeoutMs: '5' })],
        ['settle: a number', 'options', (f) => method(f(two, open), 'settle')(500)],
        ['settle: a level', 'options', (f) => method(f(two, open), 'settle')('weak')],
        ['settle: null', 'options', (f) => method(f(two, open), 'settle')(null)],
        ['settle: a text for the time', 'withinMs', (f) => method(f(two, open), 'settle')({ withinMs: 'soon' })],
        ['when: a number', 'options', (f) => method(f(two, open), 'when')('weak', 500)],
        ['when: null', 'options', (f) => method(f(two, open), 'when')('weak', null)],
      ],
    },
    correctableFrom: {
      shows: 'give one',
      whole: [
        ['a value', 'promise', (f) => f(5)],
        ['nothing', 'promise', (f) => f()],
      ],
      parts: [],
    },
    correctableOf: 'takes any value',
    boxed: 'takes whatever it is given, and gives it back',
    getSnapshot: 'takes a Correctable of any copy of the package',
    isCorrectableError: 'takes anything',
    structurallyEqual: 'takes anything',
    CorrectableError: 'is made by those who write bindings: its code is what they say',
  },
  './operations': {
    get: {
      shows: 'give a string',
      whole: [
        ['nothing', 'key', (f) => f()],
        ['a number', 'key', (f) => f(7)],
        ['an object', 'key', (f) => f({ key: 'k' })],
      ],
      parts: [],
    },
    put: { shows: 'give a string', whole: [['an object', 'key', (f) => f({ key: 'k', value: 1 })]], parts: [] },
    getMany: {
      shows: 'give a list',
      whole: [['keys without a list', 'keys', (f) => f('a', 'b')]],
      parts: [['a list of numbers', 'keys[0]', (f) => f([1])]],
    },
    enqueue: { shows: 'give a string', whole: [['an object', 'queue', (f) => f({ queue: 'q', item: 1 })]], parts: [] },
    dequeue: { shows: 'give a string', whole: [['an object', 'queue', (f) => f({ queue: 'q' })]], parts: [] },
    peek: { shows: 'give a string', whole: [['nothing', 'queue', (f) => f()]], parts: [] },
    remaining: {
      shows: 'remaining(view)',
      whole: [
        ['nothing', 'view', (f) => f()],
        ['the value of a view', 'view', (f) => f(null)],
      ],
      parts: [],
    },
    safeThreshold: {
      shows: 'safeThreshold(view)',
      whole: [
        ['nothing', 'view', (f) => f()],
        ['a number', 'view', (f) => f(20)],
      ],
      parts: [],
    },
  },
  './policies': {
    retries: {
      shows: 'retries({ attempts: 3 })',
      whole: [
        ['a number', 'options', (f) => f(3)],
        ['not called, given to a client', 'options', (f) => createClient(binding(), { retry: f as unknown as Policy })],
        ['the name of another library', 'retries', (f) => f({ retries: 3 })],
      ],
      parts: [
        ['no attempt', 'attempts', (f) => f({ attempts: 0 })],
        ['attempts for ever', 'attempts', (f) => f({ attempts: Infinity })],
        ['a text for the attempts', 'attempts', (f) => f({ attempts: '3' })],
        ['milliseconds for the backoff', 'backoff', (f) => f({ backoff: 100 })],
        ['a number for the random', 'random', (f) => f({ random: 0.5 })],
      ],
    },
    sharedReads: {
      shows: 'write sharedReads()',
      whole: [
        ['options', 'options', (f) => f({ maxMs: 5 })],
        [
          'not called, given to a client',
          'options',
          (f) => createClient(binding(), { shareReads: f as unknown as Policy }),
        ],
      ],
      parts: [],
    },
    exponentialBackoff: 'is bundled with every page: its numbers are looked at by nobody',
  },
  ...callsOfBindings,
  ...callsOfEngines,
  ...callsOfServer,
};

const read = { name: 'get', args: { key: 'k' }, effect: 'read', key: 'k' };

/** An executor that brings nothing: what is asked of its Correctable ends by itself. */
function open(): void {}
