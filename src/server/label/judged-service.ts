/**
 * A service as it is judged: its generators run as at a site, whatever colours it has declared. All that the tool knows of
 * colours is here.
 */
import type { OperationSpec } from '../../protocol/contract/contract.ts';
import type { Colour, Effect } from '../records/effect.ts';
import { frozenTools } from '../../values/frozen.ts';
import { Chosen } from '../records/reply.ts';
import type { Service } from '../service/service.ts';
import { isRemoval } from '../service/row-effects.ts';
import type { ShadowBuilders, ShadowOperations } from '../service/shadow-operation.ts';
import { isRedOnly, type Tables } from '../service/tables.ts';

/** The service, and what it says of itself. */
export interface JudgedService {
  /** With generators that can be run: of no colour is it said that it does not fit. */
  readonly runnable: Service;
  readonly name: string;
  readonly tables: Tables;
  /** The operations that may change something, in the order of the contract. */
  readonly updates: readonly string[];
  readonly reads: readonly string[];
  /** The names of all shadow operations. */
  readonly shadows: readonly string[];
  /** The colour of a shadow operation where this operation chooses it: an operation that is always red makes it red. */
  declared(shadow: string, operation: string | undefined): Colour;
  /**
   * Why a shadow operation of these effects can be red alone, whatever the states; `undefined` where it has to be looked
   * for.
   */
  redByItself(shadow: string, effects: readonly Effect[]): string | undefined;
}

/** Takes a service as it was defined. */
export function judgedService(service: Service): JudgedService {
  const { contract, tables, shadowOperations, colours, alwaysRed } = service;
  const ofEffect = (wanted: OperationSpec['effect']): readonly string[] =>
    Object.keys(contract.operations).filter((name) => contract.operations[name]?.effect === wanted);

  const redByItself = (shadow: string, effects: readonly Effect[]): string | undefined => {
    const effect = effects.find((each) => isRedOnly(tables, each));
    if (effect !== undefined) {
      const { table, field } = effect;
      const what = isRemoval(effect) ? `rows of ${table}, with all their fields` : `${table}.${field}`;
      return `changes ${what}, which goes by the red order alone`;
    }
    const makesReply = shadowOperations[shadow]?.reply !== undefined;
    return makesReply ? 'makes its reply when it is applied, in the red order' : undefined;
  };

  const builders = Object.entries(shadowOperations).map(([shadow, { effects: effectsOf }]) => {
    const build = (args: unknown, reply?: unknown): Chosen<unknown> => {
      const effects = effectsOf(args);
      const colour = redByItself(shadow, effects) === undefined ? (colours[shadow] ?? 'red') : 'red';
      return new Chosen({ shadow, colour, args, effects, reply });
    };
    return [shadow, build] as const;
  });

  return {
    name: contract.name,
    tables,
    runnable: {
      ...service,
      contract: { ...contract, operations: withoutColours(contract.operations) } as Service['contract'],
      shadowBuilders: frozenTools(Object.fromEntries(builders)) as unknown as ShadowBuilders<ShadowOperations>,
    },
    updates: ofEffect('update'),
    reads: ofEffect('read'),
    shadows: Object.keys(shadowOperations),
    declared: (shadow, operation) =>
      operation !== undefined && alwaysRed.has(operation) ? 'red' : (colours[shadow] ?? 'red'),
    redByItself,
  };
}

/** A generator would fail where a shadow operation has another colour than its operation. */
function withoutColours(operations: Service['contract']['operations']): Service['contract']['operations'] {
  const plain = Object.entries(operations).map(([name, spec]) => [name, { ...spec, colour: undefined }] as const);
  return Object.fromEntries(plain);
}
