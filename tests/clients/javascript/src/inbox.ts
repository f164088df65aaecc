/** A queue of the messages of a subscription. */
export class Inbox<Message> {
  private readonly arrived: Message[] = [];
  private readonly takers: ((message: Message) => void)[] = [];

  readonly put = (message: Message): void => {
    const taker = this.takers.shift();
    if (taker) taker(message);
    else this.arrived.push(message);
  };

  take(): Promise<Message> {
    const message = this.arrived.shift();
    return message === undefined ? new Promise((taker) => this.takers.push(taker)) : Promise.resolve(message);
  }
}

/** The value, which must not be null here. */
export function given<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error("the value is null");
  return value;
}
