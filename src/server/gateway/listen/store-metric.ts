/** A metric of a store behind the gateways. */
export interface StoreMetric {
  readonly kind: 'counter' | 'gauge' | 'summary';
  readonly name: string;
  readonly help: string;
  /** Returns the current values with their labels. */
  read(): readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
    /** The part of a summary. The other kinds have none. */
    readonly suffix?: '_sum' | '_count';
  }[];
}
