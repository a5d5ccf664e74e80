/**
 * Promises whose jobs can be run to their end from outside.
 *
 * An engine runs the jobs of its own promises only after a call has returned, and a call of an extension must return with
 * its answer. The build lowers `async` functions to generators over the global `Promise`, and this one takes its place.
 */

type Settle = (value: unknown) => void;
type Job = () => void;

const jobs: Job[] = [];

/** Run all jobs that wait, and those that they add. */
export function drain(): void {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) job();
}

export class Settled {
  state: "pending" | "fulfilled" | "rejected" = "pending";
  value: unknown = undefined;
  private readonly waiting: Job[] = [];

  constructor(executor: (resolve: Settle, reject: Settle) => void) {
    let done = false;
    const once = (settle: Settle): Settle => (value) => {
      if (done) return;
      done = true;
      settle(value);
    };
    const reject = once((value) => this.settle("rejected", value));
    const resolve = once((value) => this.resolve(value));
    try {
      executor(resolve, reject);
    } catch (error) {
      reject(error);
    }
  }

  private resolve(value: unknown): void {
    if (value === this) return this.settle("rejected", new TypeError("a promise cannot wait for itself"));
    let then: unknown;
    try {
      then = value !== null && (typeof value === "object" || typeof value === "function") ? (value as { then?: unknown }).then : undefined;
    } catch (error) {
      return this.settle("rejected", error);
    }
    if (typeof then !== "function") return this.settle("fulfilled", value);
    jobs.push(() => {
      let done = false;
      const once = (settle: Settle): Settle => (result) => {
        if (done) return;
        done = true;
        settle(result);
      };
      const reject = once((error) => this.settle("rejected", error));
      try {
        (then as (resolve: Settle, reject: Settle) => void).call(value, once((result) => this.resolve(result)), reject);
      } catch (error) {
        reject(error);
      }
    });
  }

  private settle(state: "fulfilled" | "rejected", value: unknown): void {
    this.state = state;
    this.value = value;
    jobs.push(...this.waiting.splice(0));
  }

  then(fulfilled?: unknown, rejected?: unknown): Settled {
    return new Settled((resolve, reject) => {
      const job = (): void => {
        const handler = this.state === "fulfilled" ? fulfilled : rejected;
        if (typeof handler !== "function") return this.state === "fulfilled" ? resolve(this.value) : reject(this.value);
        try {
          resolve(handler(this.value));
        } catch (error) {
          reject(error);
        }
      };
      if (this.state === "pending") this.waiting.push(job);
      else jobs.push(job);
    });
  }

  catch(rejected?: unknown): Settled {
    return this.then(undefined, rejected);
  }

  finally(handler?: () => unknown): Settled {
    return this.then(
      (value: unknown) => Settled.resolve(handler?.()).then(() => value),
      (error: unknown) => Settled.resolve(handler?.()).then(() => Settled.reject(error)),
    );
  }

  static resolve(value?: unknown): Settled {
    return value instanceof Settled ? value : new Settled((resolve) => resolve(value));
  }

  static reject(error?: unknown): Settled {
    return new Settled((_, reject) => reject(error));
  }

  static all(values: Iterable<unknown>): Settled {
    return Settled.collect(values, (each, keep) => Settled.resolve(each).then(keep));
  }

  static allSettled(values: Iterable<unknown>): Settled {
    return Settled.collect(values, (each, keep) =>
      Settled.resolve(each).then(
        (value: unknown) => keep({ status: "fulfilled", value }),
        (reason: unknown) => keep({ status: "rejected", reason }),
      ),
    );
  }

  static race(values: Iterable<unknown>): Settled {
    return new Settled((resolve, reject) => {
      for (const each of values) Settled.resolve(each).then(resolve, reject);
    });
  }

  private static collect(values: Iterable<unknown>, wait: (each: unknown, keep: Settle) => Settled): Settled {
    return new Settled((resolve, reject) => {
      const all = [...values];
      const results: unknown[] = new Array(all.length);
      let left = all.length;
      if (left === 0) resolve(results);
      all.forEach((each, index) => {
        wait(each, (value) => {
          results[index] = value;
          left -= 1;
          if (left === 0) resolve(results);
        }).catch(reject);
      });
    });
  }
}

/** What a value comes to that may be a promise. Throws what it was rejected with, or that it waits for nothing. */
export function settled<T>(value: T | Promise<T>): T {
  const promise = Settled.resolve(value);
  drain();
  if (promise.state === "pending") {
    throw new Error("the handler waits, and there is nothing in a sandbox to wait for");
  }
  if (promise.state === "rejected") throw promise.value;
  return promise.value as T;
}

export function install(): void {
  (globalThis as { Promise: unknown }).Promise = Settled;
}
