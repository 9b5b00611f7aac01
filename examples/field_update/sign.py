"""MCUboot's imgtool, of the Python environment, for signing in a build: `sign.py sign --key KEY ... PAYLOAD IMAGE`."""

from imgtool.main import imgtool

if __name__ == "__main__":
    imgtool()
