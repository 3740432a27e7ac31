/** A counter or gauge of a store behind the gateways. */
export interface StoreMetric {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  /** Returns the current values with their labels. */
  read(): readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}
