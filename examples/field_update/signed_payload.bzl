"""`signed_payload`: a payload with MCUboot's header, hash and signature."""

load("//platforms:host_genrule.bzl", "host_genrule")

def signed_payload(name, payload, version, slot_bytes, key = "development_key.pem", **kwargs):
    """Declares NAME.img, made of `payload` by imgtool.

    An Ed25519 signature of the same bytes is always the same, so the image is reproducible.

    Args:
      name: name of the target.
      payload: the payload of a model for one instruction set, dsp/NAME.payload.bin of a delegate_model.
      version: as imgtool takes it: "1.2.0+7".
      slot_bytes: size of the slot; imgtool refuses an image that is larger.
      key: the private key, in PEM. The one of this example is public: use your own.
      **kwargs: visibility, tags, ...
    """
    host_genrule(
        name = name,
        srcs = [
            key,
            payload,
        ],
        outs = [name + ".img"],
        # The header has 32 bytes, so that the payload after it is 16-byte aligned, as the delegate needs it.
        cmd = ("$(execpath :sign) sign --key $(execpath {key}) --header-size 32 --pad-header --align 4 " +
               "--slot-size {slot_bytes} --version {version} $(execpath {payload}) $@ > /dev/null").format(
            key = key,
            payload = payload,
            slot_bytes = slot_bytes,
            version = version,
        ),
        message = "Signing %s" % payload,
        tools = [":sign"],
        **kwargs
    )
