/**
 * The colours of a service: of each shadow operation what `blue` or `red` said, or `colours`; and all of a service that
 * follows from them.
 */
import { check } from '../../correctable/errors.ts';
import { checkRecord } from '../../correctable/given.ts';
import type { Contract, OperationSpec } from '../../protocol/contract/contract.ts';
import type { Colour, Effect } from '../records/effect.ts';
import { hasBounded } from './takes.ts';
import type { Tables } from './tables.ts';
import { frozenTools, kept } from '../../values/frozen.ts';
import { Chosen } from '../records/reply.ts';
import type { AnyShadowOperation, Colours, ShadowBuilders, ShadowOperations } from './shadow-operation.ts';

const CALL = "{ colours: { withdraw: 'red' } }";

/** What a service has by the colours of its shadow operations. */
export interface Colouring {
  /** The colour of each shadow operation. */
  readonly colours: Colours;
  /** What generators get as `shadow`. */
  readonly shadowBuilders: ShadowBuilders<ShadowOperations>;
  /** Updates whose answer must not come from one site alone, though they change nothing: some path of theirs is red. */
  readonly maybeRed: ReadonlySet<string>;
}

/**
 * The colour of each shadow operation.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming one without a colour or with two, and a colour that fits none
 */
export function coloursOf(operations: ShadowOperations, given: unknown = {}): Colours {
  const own = ownColours(operations);
  checkGiven(operations, given);
  for (const name of Object.keys(given)) {
    check(!Object.hasOwn(own, name), `colours.${name}`, `is ${own[name]} by itself: make it by shadow to say it here`);
  }
  const colours = { ...own, ...given };
  for (const name of Object.keys(operations)) {
    const problem = `is missing: make '${name}' by blue or red, or write { colours: { ${name}: 'red' } }`;
    check(isColour(colours[name]), `colours.${name}`, problem);
  }
  return colours;
}

/** What follows from the colours of the shadow operations. */
export function colouring(
  contract: Contract,
  operations: Readonly<Record<string, AnyShadowOperation>>,
  colours: Colours,
  tables: Tables,
): Colouring {
  const hasRed = Object.values(colours).includes('red') || hasBounded(tables);
  return { colours, shadowBuilders: shadowBuilders(operations, colours), maybeRed: maybeRed(contract, hasRed) };
}

/** The updates of a contract that are declared to be red, or to have no colour of their own. */
export function updatesOf({ operations }: Contract, wanted: 'red' | undefined): string[] {
  const isWanted = ([, { effect, colour }]: readonly [string, OperationSpec]): boolean =>
    effect === 'update' && colour === wanted;
  return Object.entries(operations)
    .filter(isWanted)
    .map(([name]) => name);
}

function isColour(given: unknown): given is Colour {
  return given === 'blue' || given === 'red';
}

function ownColours(operations: ShadowOperations): Colours {
  const own: Record<string, Colour> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const { colour } = operation as { readonly colour?: Colour };
    if (colour !== undefined) own[name] = colour;
  }
  return own;
}

/** @throws CorrectableError `INVALID_ARGUMENT` naming a colour that is none, or fits no shadow operation */
export function checkGiven(operations: Readonly<Record<string, object>>, given: unknown): asserts given is Colours {
  checkRecord(given, { call: CALL, field: 'colours' });
  for (const [name, colour] of Object.entries(given as Colours)) {
    const field = `colours.${name}`;
    const names = Object.keys(operations).join(', ');
    check(Object.hasOwn(operations, name), field, `is of no shadow operation; there are ${names}`);
    check(isColour(colour), field, "must be 'blue' or 'red'");
    const hasReply = 'reply' in (operations[name] ?? {});
    check(colour === 'red' || !hasReply, field, 'must be red: its reply is made in the order of all sites');
  }
}

/** Where no shadow operation is red, nor may become so, nothing can come in between that one site does not know of. */
function maybeRed(contract: Contract, hasRed: boolean): ReadonlySet<string> {
  return new Set([...updatesOf(contract, 'red'), ...(hasRed ? updatesOf(contract, undefined) : [])]);
}

function shadowBuilders(
  operations: Readonly<Record<string, AnyShadowOperation>>,
  colours: Colours,
): ShadowBuilders<ShadowOperations> {
  const builders: Record<string, (args: unknown, reply?: unknown) => Chosen<unknown>> = {};
  for (const [name, { effects: effectsOf, reply: makesReply }] of Object.entries(operations)) {
    const colour = colours[name] ?? 'red';
    builders[name] = (given, reply) => {
      const args = makesReply === undefined ? given : kept(given);
      return new Chosen({ shadow: name, colour, args, effects: keptEffects(effectsOf(given)), reply });
    };
  }
  return frozenTools(builders) as ShadowBuilders<ShadowOperations>;
}

/** Its author may give the list once more, or an effect that he made by hand. What is no list is refused by others. */
function keptEffects(given: readonly Effect[]): readonly Effect[] {
  return Array.isArray(given) ? (given as readonly Effect[]).map(keptEffect) : given;
}

/** One plain literal, each part of it read once. */
function keptEffect(effect: Effect): Effect {
  if (typeof effect !== 'object' || effect === null) return effect;
  const { table, key, field, action, value } = effect;
  return value === undefined ? { table, key, field, action } : { table, key, field, action, value: kept(value) };
}
