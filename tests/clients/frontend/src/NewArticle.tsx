import { useMutation } from "@apollo/client/react";
import { PAGE, POST } from "./queries";

/** A form that shows each refused value beside its field. */
export function NewArticle() {
  const [post, { data }] = useMutation(POST, { refetchQueries: [PAGE] });

  async function submit(form: FormData) {
    await post({ variables: { input: { title: String(form.get("title")), link: String(form.get("link")) } } });
  }

  function problems(field: string) {
    const errors = data?.post?.userErrors.filter((error) => error.field?.[1] === field) ?? [];
    return errors.map(({ message }) => <em key={message}>{message}</em>);
  }

  return (
    <form action={submit}>
      <label>
        Title <input name="title" /> {problems("title")}
      </label>
      <label>
        Link <input name="link" /> {problems("link")}
      </label>
      <button>Post</button>
    </form>
  );
}
