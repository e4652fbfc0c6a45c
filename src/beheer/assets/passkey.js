// form[data-passkey="url"]: asks the device for a passkey, with what that address says, and sends its answer along.
// data-passkey-nieuw: makes one.
for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) continue
  const isNew = 'passkeyNieuw' in form.dataset
  const failed = form.querySelector('[data-passkey-mislukt]')
  const answer = form.elements.antwoord
  form.hidden = false
  document.querySelector('[data-passkey-kan-niet]')?.remove()
  form.addEventListener('submit', async (event) => {
    if (answer.value !== '') return
    event.preventDefault()
    failed.hidden = true
    try {
      const options = await (await fetch(form.dataset.passkey, { headers: { accept: 'application/json' } })).json()
      const credential = isNew
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
      answer.value = JSON.stringify(credential.toJSON())
      form.submit()
    } catch {
      failed.hidden = false // stopped by the person, or the device has none
      failed.focus()
    }
  })
}
