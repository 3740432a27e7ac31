/** The alarms of a store with replicas. */

/** A condition that an operator should know. */
export interface ReplicasAlarm {
  /**
   * `no-position`: a replica does not know its position. Sessions read at the primary only, and
   * `lagMs` is unknown. `no-token-key`: session tokens leave the process, for example over HTTP,
   * and there is no `tokenKey`. `lost-writes`: the primary lacks something that a session has seen,
   * or does not show that it has it. Or a promotion was taken back, and with it the writes of the
   * promoted server. `access-refused`: a server refuses the password or the rights of this process,
   * or this process refuses its certificate. Each cause is reported once.
   */
  readonly code: 'no-position' | 'no-token-key' | 'lost-writes' | 'access-refused';
  readonly message: string;
}
