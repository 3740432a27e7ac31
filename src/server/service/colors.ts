/**
 * Determines the colors of a service from `blue`, `red` and `colors`, and derives what follows from
 * them.
 */
import { check } from '../../correctable/errors.ts';
import { checkRecord } from '../../correctable/validate.ts';
import type { Contract } from '../../contract/contract.ts';
import type { Color, Effect } from './records/effect.ts';
import { hasBounded } from './bounded-takes.ts';
import type { Tables } from './tables.ts';
import { freezeFunctions, freezeWireCopy } from '../../values/deep-freeze.ts';
import { ChosenShadow } from './records/reply.ts';
import type {
  AnyShadowOperation,
  Colors,
  ShadowBuilders,
  ShadowOperations,
} from './shadow-operation.ts';

const CALL = "{ colors: { withdraw: 'red' } }";

/** What follows from the colors of the shadow operations. */
export interface ServiceColors {
  /** The color of each shadow operation. */
  readonly colors: Colors;
  /** Becomes `shadow` in the context of generators. */
  readonly shadowBuilders: ShadowBuilders<ShadowOperations>;
  /**
   * Writes that may be red. One site alone must not decide their answer, even if they change
   * nothing.
   */
  readonly maybeRed: ReadonlySet<string>;
}

/**
 * Returns the color of each shadow operation. Throws `INVALID_ARGUMENT` if one has no color, two,
 * or an impossible one.
 */
export function getColors(operations: ShadowOperations, value: unknown = {}): Colors {
  const own = getOwnColors(operations);
  checkColorInput(operations, value);
  for (const name of Object.keys(value)) {
    check(
      !Object.hasOwn(own, name),
      `colors.${name}`,
      `is ${own[name]} by itself: make it by shadow to say it here`,
    );
  }
  const colors = { ...own, ...value };
  for (const name of Object.keys(operations)) {
    const problem = `is missing: make '${name}' by blue or red, or write { colors: { ${name}: 'red' } }`;
    check(isColor(colors[name]), `colors.${name}`, problem);
  }
  return colors;
}

export function createServiceColors(
  contract: Contract,
  operations: Readonly<Record<string, AnyShadowOperation>>,
  colors: Colors,
  tables: Tables,
): ServiceColors {
  const hasRed = Object.values(colors).includes('red') || hasBounded(tables);
  // If no shadow operation is red or may become red, no other site can have an operation that comes
  // before.
  const maybeRed = [
    ...getUncoloredWrites(contract, 'red'),
    ...(hasRed ? getUncoloredWrites(contract, undefined) : []),
  ];
  return {
    colors,
    shadowBuilders: createShadowBuilders(operations, colors),
    maybeRed: new Set(maybeRed),
  };
}

/** Returns the writes of a contract that are declared red, or without a color of their own. */
export function getUncoloredWrites(
  { operations }: Contract,
  requested: 'red' | undefined,
): string[] {
  const isWanted = (name: string): boolean =>
    operations[name]?.access === 'write' && operations[name].color === requested;
  return Object.keys(operations).filter(isWanted);
}

function isColor(value: unknown): value is Color {
  return value === 'blue' || value === 'red';
}

function getOwnColors(operations: ShadowOperations): Colors {
  const own: Record<string, Color> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const { color } = operation as { readonly color?: Color };
    if (color !== undefined) own[name] = color;
  }
  return own;
}

/**
 * @throws CorrectableError `INVALID_ARGUMENT` naming an invalid color, or one that fits no shadow
 * operation
 */
export function checkColorInput(
  operations: Readonly<Record<string, object>>,
  value: unknown,
): asserts value is Colors {
  checkRecord(value, { call: CALL, field: 'colors' });
  for (const [name, color] of Object.entries(value as Colors)) {
    const field = `colors.${name}`;
    const names = Object.keys(operations).join(', ');
    check(Object.hasOwn(operations, name), field, `is of no shadow operation; there are ${names}`);
    check(isColor(color), field, "must be 'blue' or 'red'");
    const hasReply = 'reply' in (operations[name] ?? {});
    check(
      color === 'red' || !hasReply,
      field,
      'must be red: its reply is made in the order of all sites',
    );
  }
}

function createShadowBuilders(
  operations: Readonly<Record<string, AnyShadowOperation>>,
  colors: Colors,
): ShadowBuilders<ShadowOperations> {
  const builders: Record<string, (args: unknown, reply?: unknown) => ChosenShadow<unknown>> = {};
  for (const [name, { effects, reply: makesReply }] of Object.entries(operations)) {
    const color = colors[name] ?? 'red';
    builders[name] = (value, reply) => {
      const args = makesReply === undefined ? value : freezeWireCopy(value);
      return new ChosenShadow({
        shadow: name,
        color,
        args,
        effects: copyEffects(effects(value)),
        reply,
      });
    };
  }
  return freezeFunctions(builders) as ShadowBuilders<ShadowOperations>;
}

/**
 * Copies effects: an author may return the same array twice, or effects made by hand. Values that
 * are not arrays are rejected later.
 */
function copyEffects(value: readonly Effect[]): readonly Effect[] {
  return Array.isArray(value) ? (value as readonly Effect[]).map(copyEffect) : value;
}

/** One plain object literal, which reads each part once. */
function copyEffect(effect: Effect): Effect {
  if (typeof effect !== 'object' || effect === null) return effect;
  const { table, key, field, action, value } = effect;
  return value === undefined
    ? { table, key, field, action }
    : { table, key, field, action, value: freezeWireCopy(value) };
}
