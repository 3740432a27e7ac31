/**
 * Whether a red log can be restored without a loss. A record is confirmed once a majority of the
 * voters has it. So each majority must contain a site that is sealed, or the lost sites alone may
 * have confirmed records.
 */

/** A red log, as far as it matters who confirms its records. */
export interface ConfirmedLog {
  /** The name of the partition; `undefined` if there is one log only. */
  readonly name: string | undefined;
  /**
   * The sites whose majority confirms records. There are several lists if a change of the members
   * may be pending.
   */
  readonly voters: readonly (readonly string[])[];
  /**
   * Whether one site can confirm a record alone, as with etcd. Default: a majority of the voters
   * confirms it
   */
  readonly isConfirmedByOne?: boolean | undefined;
}

/**
 * Returns the sites that may have confirmed a record which no sealed site has: together they are a
 * majority of the voters.
 *
 * @param transferring sites that receive the state of another site, so that they are not sealed
 */
export function findLosing(
  { voters, isConfirmedByOne = false }: ConfirmedLog,
  sealed: readonly string[],
  transferring: readonly string[],
): readonly string[] {
  // A site that receives a state may finish at any time, and then confirm records of the old
  // leader.
  const known = isConfirmedByOne ? [...sealed, ...transferring] : sealed;
  for (const list of voters) {
    const others = list.filter((site) => !known.includes(site));
    const confirming = isConfirmedByOne ? 1 : Math.floor(list.length / 2) + 1;
    if (others.length >= confirming) return others;
  }
  return [];
}

/** Creates the error of a restoration that may lose what `losing` confirmed. */
export function createLossError(
  { name, voters, isConfirmedByOne = false }: ConfirmedLog,
  sealed: readonly string[],
  losing: readonly string[],
): Error {
  const list = voters.find((item) => losing.every((site) => item.includes(site))) ?? [];
  const confirming = isConfirmedByOne ? 1 : Math.floor(list.length / 2) + 1;
  const missing = Math.max(1, losing.length - confirming + 1);
  const [names, rest] = [losing.join(', '), sealed.join(', ')];
  const [records, all, accepting] =
    name === undefined
      ? ['confirmed red records', `${list.length} voters of the red log`, '--accept-loss']
      : [
          `confirmed records of the red log of ${name}`,
          `${list.length} voters of that log (${list.join(', ')})`,
          `--accept-loss ${name}`,
        ];
  const cause = isConfirmedByOne
    ? 'a record is confirmed once one site has it'
    : `a record is confirmed once ${confirming} of the ${all} have it`;
  return new Error(
    `${records} may be lost: ${cause}, so ${names} can have confirmed what ${rest} ${sealed.length === 1 ? 'lacks' : 'lack'}. ` +
      `Nothing was changed. Start ${missing === losing.length ? names : `${missing} of ${names}`}, and do not name what runs in --without. ` +
      `If that cannot be done, repeat this with ${accepting}: all that they confirmed beyond the records of ${rest} is lost then`,
  );
}
