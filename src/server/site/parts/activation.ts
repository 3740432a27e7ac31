/**
 * The version that is in force: a function of the prefixes of the red logs (docs/spec/cluster.md).
 * A site may run a newer version of the service. It takes from other sites at once what that adds,
 * and does such things itself only once the version is in force.
 */
import type { Settling, SitePart } from '../core/site-part.ts';
import { CorrectableError } from '../../../correctable/errors.ts';
import {
  findLostPart,
  isSameVersion,
  type DeploymentVersion,
} from '../../service/records/deployment-version.ts';
import type { Effect } from '../../service/records/effect.ts';
import { NeedsNewerVersionError } from '../../service/records/failures.ts';
import { markInternal } from '../../service/records/internal-errors.ts';
import { formatOperationId } from '../core/operation-id.ts';
import type { SavedActivation } from '../../service/records/checkpoint.ts';
import {
  getPartition,
  type ActivateRecord,
  type OperationId,
  type RedRecord,
  type LocalEntry,
} from '../../service/records/records.ts';
import { LogCopies } from './log-copies.ts';
import type { SiteCore, RunningVersion } from '../core/site-core.ts';
import type { RecoveredState } from '../../log/recovered-state.ts';
import { describeEffectsProblem } from '../wire/validate-content.ts';
import { EffectValidator } from '../../service/effect-validator.ts';
import type { Tables } from '../../service/tables.ts';

export class Activation implements SitePart, Settling {
  /** Whether a red log may lack a copy of the activation. */
  isDue = true;
  readonly #core: SiteCore;
  readonly #running: RunningVersion | undefined;
  /** The prefix of this start's records. No other start names records like it. */
  readonly #client: string;
  readonly #copies: LogCopies;
  #inForce: DeploymentVersion | undefined;
  /** What `main` has activated last. It may not be in force yet. */
  #activated: SavedActivation | undefined;
  /** The partitions whose last record of a version the own log does not prove to count. */
  readonly #unproven = new Set<number>();
  /** Own records that `main` has, and whose version is not in force yet. */
  readonly #awaiting: OperationId[] = [];
  /** The version that this site uses: the one in force, as far as the own log proves it. */
  #used: DeploymentVersion | undefined;
  /** Whether the version in use is the one that the site runs. */
  isAll = true;
  #proposed = 0;

  /** @param getCopiedPlace the place of the last copy that a red log has here */
  constructor(core: SiteCore, getCopiedPlace: (partition: number) => number, startName: string) {
    this.#core = core;
    this.#copies = new LogCopies(core, getCopiedPlace);
    this.#running = core.options.version;
    this.#client = `${startName}.version`;
    this.load(this.#running?.founding);
  }

  /**
   * The version in force. It is `undefined` if all sites are in one process, so that they run the
   * same version.
   */
  get inForce(): DeploymentVersion | undefined {
    return this.#inForce;
  }

  /** What `main` has activated last. It may not be in force yet. */
  get activated(): SavedActivation | undefined {
    return this.#activated;
  }

  /**
   * Proposes that the version of this site comes into force. Returns the name of the record, under
   * which its outcome is reported.
   */
  propose(): OperationId {
    const { own } = this.#running as RunningVersion;
    const record = this.#createRecord(own);
    this.#core.outputs.propose(record);
    return record.id;
  }

  /** Appends what red logs lack of the activation, if this site has to. */
  settle(): boolean {
    this.isDue = false;
    return this.#copies.propose(this.#activated?.place ?? 0, this.#createCopy);
  }

  /** Another site may have to append copies now. */
  onMembersChanged(): void {
    this.isDue = true;
  }

  /** Returns why this site cannot take records of the red log, if so: it needs a newer version. */
  findProblem(records: readonly RedRecord[]): string | undefined {
    for (const record of records) {
      const problem = findRecordProblem(record, this.#running?.own);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /**
   * Takes a record without a problem. With several red logs, the version is in force once each of
   * them has it: a log without it would have records that a site with an older version takes before
   * it knows that it has to stop.
   *
   * @param place its number in the log, from 1 on
   * @param isProven whether the own log proves that the record counts
   */
  deliver(record: ActivateRecord, place: number, isProven: boolean): void {
    if (this.#inForce === undefined) return;
    const partition = getPartition(record);
    if (isProven) this.#unproven.delete(partition);
    else this.#unproven.add(partition);
    if (record.place === undefined) this.#onActivated(record, place);
    this.#beginIfDelivered();
  }

  #onActivated({ id, site, version }: ActivateRecord, place: number): void {
    const { options } = this.#core;
    if (!options.origins.isMember(site)) return;
    // The result follows from the log, so it is the same at all sites.
    const last = this.#activated?.version ?? this.#inForce;
    const lost = last && findLostPart(last, version);
    const isOwn = site === options.site;
    if (lost === undefined) {
      this.#activated = { version, place };
      this.isDue = true;
      if (isOwn) this.#awaiting.push(id);
    } else if (isOwn) {
      const problem = `another version was activated meanwhile, which needs ${lost}`;
      this.#core.outputs.report({ kind: 'changed', id, origin: site, problem });
    }
  }

  #beginIfDelivered(): void {
    const activated = this.#activated;
    if (activated === undefined) return;
    if (!this.#copies.areDelivered(activated.place)) return;
    if (this.#inForce !== activated.version) {
      this.#inForce = activated.version;
      // Otherwise a start after a crash might not know that the records count, and would refuse
      // operations that were done here.
      if (this.#unproven.size === 0) this.#begin(activated.version);
      else this.#beginOnceProven();
    }
    const { site } = this.#core.options;
    for (const id of this.#awaiting.splice(0))
      this.#core.outputs.report({
        kind: 'changed',
        id,
        origin: site,
        problem: undefined,
      });
  }

  #beginOnceProven(): void {
    this.#core.store({ kind: 'delivered', redDelivered: this.#core.redDelivered }, () =>
      this.#begin(this.#inForce),
    );
  }

  /**
   * @throws NeedsNewerVersionError if the site lacks a part of the version in force, or of the one
   * that is activated
   */
  load(inForce: DeploymentVersion | undefined, activated?: SavedActivation): void {
    if (this.#running === undefined || inForce === undefined) return;
    const needed = activated?.version ?? inForce;
    const problem = describeLost(needed, this.#running.own);
    if (problem !== undefined) throw new NeedsNewerVersionError(problem);
    this.#begin(inForce);
    this.#activated = activated;
  }

  /** Returns why an operation is not taken here yet, if so. It is asked only unless `isAll`. */
  getRejection(operation: string): CorrectableError | undefined {
    if (Object.hasOwn(this.#used?.service.operations ?? {}, operation)) return undefined;
    return notActiveError(
      `The operation '${operation}' is new in this version of the service`,
      operation,
    );
  }

  /** Throws if a shadow operation needs a part that is not in force. */
  readonly checkChoice = (shadow: string, effects: readonly Effect[]): void => {
    if (this.isAll) return;
    const { tables, replies } = (this.#used as DeploymentVersion).service;
    for (const { table, field } of effects) {
      const known = Object.hasOwn(tables, table) ? tables[table]?.fields : undefined;
      if (known !== undefined && (field === '' || Object.hasOwn(known, field))) continue;
      const name = known === undefined || field === '' ? table : `${table}.${field}`;
      throw markInternal(notActiveError(`'${shadow}' changes '${name}', which is new`, shadow));
    }
    const makesReply = this.#core.options.service.shadowOperations[shadow]?.reply !== undefined;
    if (makesReply && !replies.includes(shadow))
      throw markInternal(
        notActiveError(`The shadow operation '${shadow}' is new and makes the reply`, shadow),
      );
  };

  readonly #createCopy = (partition: number): ActivateRecord => {
    const { version, place } = this.#activated as SavedActivation;
    return { ...this.#createRecord(version), partition, place };
  };

  #createRecord(version: DeploymentVersion): ActivateRecord {
    this.#proposed += 1;
    const id = formatOperationId(this.#client, this.#proposed);
    const { site } = this.#core.options;
    return { kind: 'activate', id, site, version };
  }

  #begin(version: DeploymentVersion | undefined): void {
    this.#inForce = version;
    this.#used = version;
    this.isAll =
      version === undefined || isSameVersion(version, (this.#running as RunningVersion).own);
  }
}

/** Returns why a record of the red log needs a newer version than `own`, if so. */
export function findRecordProblem(
  record: RedRecord,
  own: DeploymentVersion | undefined,
): string | undefined {
  switch (record.kind) {
    case 'operation':
    case 'close':
    case 'marker':
    case 'check':
    case 'hold':
    case 'release':
    case 'abort':
    case 'opening':
      return undefined;
    case 'member':
      return MEMBER_ACTIONS.includes(record.action) ? undefined : describeUnknown(record);
    case 'activate':
      return own && describeLost(record.version, own);
    default:
      return describeUnknown(record);
  }
}

/** What records of members of this version do. */
const MEMBER_ACTIONS: readonly string[] = ['change', 'ack', 'copy'];

function describeUnknown({
  kind,
  action = '',
}: {
  readonly kind: string;
  readonly action?: string;
}): string {
  return `the red log has a record of the kind '${`${kind} ${action}`.trim()}', which is not known here`;
}

function describeLost(needed: DeploymentVersion, here: DeploymentVersion): string | undefined {
  const lost = findLostPart(needed, here);
  return lost && `the version in force needs ${lost}`;
}

function notActiveError(problem: string, field: string): CorrectableError {
  const advice =
    'Nothing was done: run correctables cluster activate once every site runs this version, then retry';
  return new CorrectableError('UNAVAILABLE', `${problem}, and not in force yet. ${advice}.`, {
    field,
  });
}

/** Returns why a recovered state needs a newer version, if so. */
export function findStoredProblem(
  { local, red, partitions = [] }: RecoveredState,
  tables: Tables,
  own: DeploymentVersion | undefined,
): string | undefined {
  const known = new EffectValidator(tables);
  for (const entry of local.entries) {
    const problem = findEntryProblem(entry, known);
    if (problem !== undefined) return problem;
  }
  for (const { record } of [red, ...partitions].flatMap(({ entries }) => entries)) {
    const effects = record.kind === 'operation' ? record.effects : [];
    const problem = findRecordProblem(record, own) ?? describeEffects(effects, true, known);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function findEntryProblem(entry: LocalEntry, known: EffectValidator): string | undefined {
  switch (entry.kind) {
    case 'blue':
      return describeEffects(entry.operation.effects, false, known);
    case 'slot':
    case 'expire':
    case 'delivered':
    case 'term':
      return undefined;
    default:
      return `its log has an entry of the kind '${(entry as LocalEntry).kind}', which is not known here`;
  }
}

function describeEffects(
  effects: readonly Effect[],
  isRed: boolean,
  known: EffectValidator,
): string | undefined {
  const problem = describeEffectsProblem(effects, isRed, known);
  return problem && `of an operation in its log, ${problem}`;
}
