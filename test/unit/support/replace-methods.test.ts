/** How tests replace methods of a part, and the arguments that it is created with. */
import { expect, test } from 'vitest';
import { replaceArguments, replaceMethods } from '../../support/replace-methods.ts';

class Account {
  readonly owner: string;
  #balance: number;

  constructor(owner: string, balance = 0) {
    this.owner = owner;
    this.#balance = balance;
  }

  get balance(): number {
    return this.#balance;
  }

  get summary(): string {
    return `${this.owner}: ${this.balance}`;
  }

  deposit(amount: number): void {
    this.#balance += this.round(amount);
  }

  round(amount: number): number {
    return Math.round(amount);
  }
}

test('a part calls the replacements of its methods and getters', () => {
  const Generous = replaceMethods(Account, (original) => ({
    round: (amount) => original.round(amount) + 1,
    get balance() {
      return original.balance * 10;
    },
  }));
  const account = new Generous('ann');
  account.deposit(1.6);
  expect([account.balance, account.summary]).toEqual([30, 'ann: 30']);
  expect(account).toBeInstanceOf(Account);
  expect(new Account('bob', 1).balance).toBe(1);
});

test('each instance has its own replacements, which know its arguments', () => {
  const Counting = replaceMethods(Account, (original, owner, balance) => {
    let deposits = 0;
    return {
      deposit: (amount) => {
        deposits += 1;
        original.deposit(amount);
      },
      get summary() {
        return `${owner} began with ${balance}, and has made ${deposits}`;
      },
    };
  });
  const [ann, bob] = [new Counting('ann', 5), new Counting('bob', 7)];
  ann.deposit(1);
  expect([ann.balance, ann.summary]).toEqual([6, 'ann began with 5, and has made 1']);
  expect([bob.balance, bob.summary]).toEqual([7, 'bob began with 7, and has made 0']);
});

test('replacements may stand on top of earlier ones', () => {
  const Doubled = replaceMethods(Account, (original) => ({
    round: (amount) => original.round(amount) * 2,
  }));
  const Both = replaceMethods(Doubled, (original) => ({
    round: (amount) => original.round(amount) + 1,
  }));
  const account = new Both('ann');
  account.deposit(3);
  expect(account.balance).toBe(7);
});

test('a part can be created from other arguments', () => {
  const Named = replaceArguments(Account, (owner, ...others) => [`Dr. ${owner}`, ...others]);
  expect(new Named('ann', 2).summary).toBe('Dr. ann: 2');
});

test('a name that the part does not have is rejected: the fault would do nothing', () => {
  // @ts-expect-error The compiler rejects it too.
  const Misspelled = replaceMethods(Account, () => ({ rownd: () => 0, round: () => 0 }));
  expect(() => new Misspelled('ann')).toThrow('Account has no "rownd" that could be replaced');
  // @ts-expect-error A method is replaced by one of its type.
  expect(replaceMethods(Account, () => ({ round: () => 'none' }))).toBeDefined();
});
